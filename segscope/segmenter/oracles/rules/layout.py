"""Which tensors are only views: how they would lie in memory if they were, and how they must lie.

The pass before segmentation gives each view of the fusion the layout that makes it one, and marks it in the allocation
domain, which most dumps do not print. So the pass is imitated. Source: csrc/alias_analysis.cpp,
csrc/preseg_passes/mark_aliases_prepare.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from segscope.segmenter.oracle import Candidate
from segscope.segmenter.oracles.rules.dims import Dims
from segscope.segmenter.versions import Version
from segscope.segmenter.whole import Whole
from segscope.vocabulary import METADATA_KINDS


class Stored(NamedTuple):
    """A dimension in memory."""

    dim: int
    contiguous: bool | None
    """None for a broadcast."""


Layout = tuple[Stored, ...]
"""The dimensions of a tensor as they lie in memory, outermost first."""

VIEWS: Final = METADATA_KINDS
"""Kinds of expression that can make views."""


class Layouts:
    """The layouts that tensors have at the ends of groups."""

    def __init__(self, whole: Whole, dims: Dims, version: Version) -> None:
        self._whole = whole
        self._dims = dims
        self._version = version
        self._marked: dict[str, Layout] = {}
        found: dict[str, Layout] = {}
        rooted = {*whole.inputs, *whole.outputs}
        for node, expr in enumerate(whole.exprs):
            if expr.kind in VIEWS:
                operand, output = expr.tensor_inputs[0], expr.tensor_outputs[0]
                layout = self.behind(node, found.get(operand) or self.row_major(operand))
                if layout is not None and not self._is_made_later(node):
                    found[output] = layout
                    is_rooted = operand in rooted or "aliases_of_computed" in version
                    if is_rooted and (expr.kind != "segmenter_set" or "aliases_behind_hints" in version):
                        self._marked[output] = layout
                        rooted.add(output)

    def row_major(self, name: str) -> Layout:
        """Return the layout of a tensor of which nothing is said."""
        kept = (dim for dim in self._dims.of(name) if self._dims.all[dim].kind != "r")
        return tuple(Stored(dim, None if self._dims.is_broadcast(dim) else True) for dim in kept)

    def at_an_end(self, name: str) -> Layout:
        """Return the layout that a tensor has as an input or output of a group."""
        return self._marked.get(name) or self.row_major(name)

    def are_views(self, candidate: Candidate) -> bool:
        """Say whether all outputs are views of inputs."""
        layouts: dict[str, Layout] = {}
        views = set(candidate.inputs)
        for node in candidate.nodes:
            if self._whole.exprs[node].kind not in VIEWS:
                return False
            operand, output = self._whole.reads[node][0], self._whole.writes[node][0]
            layout = self.behind(node, layouts.get(operand) or self.at_an_end(operand))
            if layout is not None:
                layouts[output] = layout
                if operand in views:
                    views.add(output)
        return bool(candidate.nodes) and all(
            name in candidate.inputs
            or (name in views and name in layouts and _complies(layouts[name], self.at_an_end(name)))
            for name in candidate.outputs
        )

    def behind(self, node: int, layout: Layout) -> Layout | None:
        """Return the layout of an expression's output as a view of its operand with this layout; None if it is none."""
        expr, step = self._whole.exprs[node], self._dims.steps[node]
        if expr.kind == "reshape":
            return _reshaped(self._dims, expr.tensor_inputs[0], expr.tensor_outputs[0], layout)
        to = dict(step.pairs) | dict(step.resized)
        if expr.kind == "slice":
            if "expanded_slices_copy" in self._version and any(self._loses_expansion(*pair) for pair in step.resized):
                return None
            return self._sliced(layout, to, {after for _, after in step.resized})
        kept = [Stored(to[stored.dim], stored.contiguous) for stored in layout if stored.dim in to]
        if "broadcasts_in_place" in self._version:
            output = self._dims.of(expr.tensor_outputs[0])
            if len(kept) + len(step.new) != len(output):
                return None
            left = iter(kept)
            return tuple(Stored(dim, None) if dim in step.new else next(left) for dim in output)
        return (*kept, *(Stored(dim, None) for dim in step.new))

    def _is_made_later(self, node: int) -> bool:
        """Say whether a squeeze drops an expanded dimension: until July 2025, such were made after the marks.

        Source: csrc/preseg_passes/move_repeat_forward.cpp.
        """
        if "layouts_marked_last" in self._version:
            return False
        kept = {before for before, _ in self._dims.steps[node].pairs}
        operand = self._dims.of(self._whole.reads[node][0])
        is_squeeze = self._whole.exprs[node].kind == "squeeze"
        return is_squeeze and any(self._dims.all[dim].expanded for dim in operand if dim not in kept)

    def _loses_expansion(self, before: int, after: int) -> bool:
        return self._dims.all[before].expanded and not self._dims.is_broadcast(after)

    def _sliced(self, layout: Layout, to: dict[int, int], resized: set[int]) -> Layout:
        """What lies outside of a sliced dimension is no longer contiguous."""
        found: list[Stored] = []
        gap = False
        for stored in reversed(layout):
            dim, contiguous = to[stored.dim], stored.contiguous
            if self._dims.is_broadcast(dim):
                contiguous = None
            elif gap:
                contiguous, gap = False, False
            found.append(Stored(dim, contiguous))
            gap = gap or dim in resized
        return tuple(reversed(found))


def _complies(layout: Layout, wanted: Layout) -> bool:
    """Say whether a tensor in a layout is one that was promised to lie as wanted."""
    return len(layout) == len(wanted) and all(
        have.dim == want.dim
        and (have.contiguous == want.contiguous or (have.contiguous is True and not want.contiguous))
        for have, want in zip(layout, wanted, strict=True)
    )


def _reshaped(dims: Dims, operand: str, output: str, layout: Layout) -> Layout | None:
    """Merge and split dimensions where they lie side by side, and without gaps."""
    groups = _groups(dims, [s.dim for s in layout], list(dims.of(operand)), list(dims.of(output)))
    if groups is None:
        return None
    contiguity = {stored.dim: stored.contiguous for stored in layout}
    found: list[Stored] = []
    place = {stored.dim: position for position, stored in enumerate(layout)}
    for before, after in sorted(groups, key=lambda group: place[group[0][0]] if group[0] else len(layout)):
        if not before:
            found += [Stored(dim, None) for dim in after]
            continue
        places = [place[dim] for dim in before]
        mergeable, merged = _merged(dims, before, contiguity)
        if places != list(range(places[0], places[0] + len(places))) or not mergeable:
            return None
        for position, dim in enumerate(after):
            inner = position == len(after) - 1
            contiguous = merged if inner or merged is None else True
            found.append(Stored(dim, None if dims.is_broadcast(dim) else contiguous))
    return tuple(found)


def _merged(dims: Dims, before: Sequence[int], contiguity: dict[int, bool | None]) -> tuple[bool, bool | None]:
    """Say whether dimensions that lie side by side can be one, and whether that one is contiguous."""
    merged, expanded = contiguity[before[0]], dims.all[before[0]].expanded
    for dim in before[1:]:
        contiguous, is_expanded = contiguity[dim], dims.all[dim].expanded
        if merged is None and not expanded:
            merged, expanded = contiguous, is_expanded
        elif contiguous is None and not is_expanded:
            continue
        elif expanded and is_expanded:
            merged = None
        elif expanded or is_expanded or not merged:
            return False, None
        else:
            merged = contiguous
    return True, merged


def _groups(
    dims: Dims, stored: Sequence[int], before: list[int], after: list[int]
) -> list[tuple[list[int], list[int]]] | None:
    """Pair up dimensions before and after a reshape that have as many elements; None where that is not known."""
    before = [dim for dim in before if dim in stored]
    groups = []
    while before or after:
        taken, made = before[:1], after[:1]
        before, after = before[1:], after[1:]
        while (sizes := (_elements(dims, taken), _elements(dims, made)))[0] != sizes[1]:
            if not isinstance(sizes[0], int) or not isinstance(sizes[1], int):
                return None
            short, left = (taken, before) if sizes[0] < sizes[1] else (made, after)
            if not left:
                return None
            short.append(left.pop(0))
        groups.append((taken, made))
    return groups


def _elements(dims: Dims, group: Sequence[int]) -> int | str | None:
    sizes = [dims.all[dim].size for dim in group]
    if len(sizes) == 1:
        return sizes[0]
    product = 1
    for size in sizes:
        if not isinstance(size, int):
            return None
        product *= size
    return product
