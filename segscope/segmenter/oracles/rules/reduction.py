"""What the reduction and persistent schedulers take, as far as a dump tells.

Source: csrc/scheduler/reduction.cpp, csrc/scheduler/normalization_utils.cpp, csrc/scheduler/registry_utils.cpp.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from segscope.segmenter.oracle import Accepted, Answer, Refused, Unknown
from segscope.segmenter.oracles.rules.classes import Classes, SetOfExprs
from segscope.segmenter.oracles.rules.elementwise import covers_outputs, has_ambiguous_broadcast, needed

REDUCTIONS: Final = frozenset({"reduction"})

_FEW: Final = 4096
"""Elements of the reduced dimensions up to which a persistent kernel is taken however few rows there are."""
_MOST: Final = 32768
"""Elements of the reduced dimensions up to which it has room on every card."""
_MANY: Final = 1024
"""Rows that are enough for every card."""


def with_reductions(group: SetOfExprs) -> Answer:
    """Judge a group with reductions."""
    reducing = _Reducing(group)
    if has_ambiguous_broadcast(group):
        return Refused(reason="a broadcast may have several sizes")
    if reducing.view_interferes:
        return Refused(reason="a reshape joins dimensions that the reduction keeps apart")
    if not reducing.covers_outputs:
        return Refused(reason="an output has dimensions that the reduction has not")
    if reducing.buffered:
        return _persistent(reducing)
    if len(reducing.patterns) > 1:
        return Refused(reason="reductions over different dimensions")
    if not reducing.covers_inputs:
        return Refused(reason="an input has dimensions that the reduction has not")
    if reducing.resolved:
        return Refused(reason="what is reduced is broadcast again")
    if reducing.inner and reducing.reads_more_afterwards:
        return Refused(reason="an input comes in after a reduction of the innermost dimension")
    return Accepted(scheduler="reduction")


def _persistent(reducing: _Reducing) -> Answer:
    if not reducing.inner:
        return Unknown(why="no rules for persistent reductions of outer dimensions alone")
    if len(reducing.inner) > 1 or len(reducing.outer) > 1:
        return Refused(reason="reductions over different dimensions")
    if not reducing.normalizes:
        return Refused(reason="what is reduced is broadcast to something that is not reduced")
    if not reducing.fits_surely:
        return Unknown(why="no rules for what a persistent kernel can hold, and how few rows are too few")
    if reducing.outer:
        return Accepted(scheduler="inner_outer_persistent")
    return Accepted(scheduler="inner_persistent")


_Pattern = tuple[tuple[int, bool], ...]
"""The dimensions of a reduction's output that are no broadcasts, and which of them are reduced."""


class _Reducing:
    """A group with reductions, and what their schedulers look at."""

    def __init__(self, group: SetOfExprs) -> None:
        self._group = group
        self._nodes = [node for node in group.nodes if group.whole.exprs[node].kind in REDUCTIONS]
        self._made = group.whole.names(self._nodes)
        self.patterns = {self._pattern(name) for name in self._made}
        self.inner = {pattern for pattern in self.patterns if pattern and pattern[-1][1]}
        """Of reductions of the innermost dimension."""
        self.outer = self.patterns - self.inner

    def _pattern(self, name: str) -> _Pattern:
        dims, find = self._group.dims, self._group.permissive.find
        return tuple((find(d), dims.all[d].kind == "r") for d in dims.of(name) if not dims.is_broadcast(d))

    @cached_property
    def _before(self) -> frozenset[str]:
        """The values that lead to a reduction."""
        whole, inside = self._group.whole, set(self._group.nodes)
        found: set[str] = set()
        left = [name for node in self._nodes for name in whole.reads[node]]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                maker = whole.made_by.get(name)
                if maker in inside and name not in self._group.inputs:
                    left += whole.reads[maker]
        return frozenset(found)

    @cached_property
    def _after(self) -> frozenset[str]:
        """The values that depend on a reduction, those of reductions among them."""
        found = set(self._made)
        for node in self._group.nodes:
            if not found.isdisjoint(self._group.whole.reads[node]):
                found.update(self._group.whole.writes[node])
        return frozenset(found)

    @cached_property
    def _reduced(self) -> frozenset[int]:
        return frozenset(dim for pattern in self.patterns for dim, is_reduced in pattern if is_reduced)

    @cached_property
    def resolved(self) -> tuple[int, ...]:
        """Nodes at which a broadcast of what depends on a reduction meets a dimension with elements."""
        group, found = self._group, []
        for node in group.nodes:
            for before, after in group.dims.steps[node].pairs:
                is_resolved = group.dims.is_broadcast(before) and group.dims.all[after].kind not in "br"
                if is_resolved and any(
                    n in self._after and before in group.dims.of(n) for n in group.whole.reads[node]
                ):
                    found.append(node)
        return tuple(dict.fromkeys(found))

    @cached_property
    def buffered(self) -> bool:
        """Whether a value is needed before a reduction and again where the result is broadcast back."""
        return any(self._comes_back(node) for node in self.resolved)

    @cached_property
    def normalizes(self) -> bool:
        """Whether all that a result is broadcast to is what a reduction read."""
        return all(self._comes_back(node) or not self._over_reduced(node) for node in self.resolved)

    def _over_reduced(self, node: int) -> bool:
        group = self._group
        output = group.dims.of(group.whole.writes[node][0])
        return any(group.permissive.find(dim) in self._reduced for dim in output)

    def _comes_back(self, node: int) -> bool:
        """Say whether a node, or what depends on it, reads what leads to a reduction past that reduction."""
        if not self._over_reduced(node):
            return False
        whole = self._group.whole
        below = set(whole.writes[node])
        for other in self._group.nodes:
            if other != node and below.isdisjoint(whole.reads[other]):
                continue
            below.update(whole.writes[other])
            if any(self._leads_past(name) for name in whole.reads[other] if name not in below):
                return True
        return False

    def _leads_past(self, name: str) -> bool:
        """Say whether a value, or what it is made of, leads to a reduction and has a dimension that is reduced."""
        whole, inside, dims = self._group.whole, set(self._group.nodes), self._group.dims
        left, seen = [name], set()
        while left:
            name = left.pop()
            if name in seen or name in self._after:
                continue
            seen.add(name)
            if name in self._before and any(self._group.permissive.find(dim) in self._reduced for dim in dims.of(name)):
                return True
            maker = whole.made_by.get(name)
            if maker in inside and name not in self._group.inputs:
                left += whole.reads[maker]
        return False

    @property
    def fits_surely(self) -> bool:
        """Whether every card has room for what is buffered, and work enough for its multiprocessors."""
        dims = self._group.dims
        inner = next(name for name in self._made if self._pattern(name) in self.inner)
        sizes: dict[bool, int] = {True: 1, False: 1}
        for dim in map(dims.all.__getitem__, dims.of(inner)):
            if not isinstance(dim.size, int):
                return False
            sizes[dim.kind == "r"] *= dim.size
        long_rows = sizes[True] <= _MOST and sizes[False] >= _MANY and not self.outer
        return sizes[True] <= _FEW or long_rows

    @property
    def covers_inputs(self) -> bool:
        """Whether the first reduction has the dimensions of every input."""
        return needed(self._group) <= self._group.behind(self._made[0])

    @property
    def covers_outputs(self) -> bool:
        """Whether the first reduction has the dimensions of every output, broadcasts aside."""
        return covers_outputs(self._group, self._made[0])

    @property
    def reads_more_afterwards(self) -> bool:
        """Whether what depends on a reduction reads an input that no reduction reads."""
        inputs = set(self._group.inputs) - self._before
        late = set(inputs)
        for node in self._group.nodes:
            if not late.isdisjoint(self._group.whole.reads[node]):
                late.update(self._group.whole.writes[node])
        return not late.isdisjoint(self._after)

    @property
    def view_interferes(self) -> bool:
        """Whether a reshape that merges joins dimensions of the first reduction that are scheduled apart."""
        group = self._group
        reshapes = [step.reshaped for step in group.steps if step.reshaped[0]]
        if all(len(taken) == 1 for taken, _ in reshapes):
            return False
        joined = Classes()
        for taken, made in reshapes:
            first, *others = (group.exact.find(dim) for dim in (*taken, *made))
            for other in others:
                joined.join(first, other)
        dims = group.dims.of(self._made[0])
        found = [joined.find(group.exact.find(dim)) for dim in dims]
        apart = _scheduled_apart([group.dims.all[dim].kind == "r" for dim in dims])
        parts = [{found[position] for position in positions} for positions in apart]
        return sum(map(len, parts)) > len(set().union(*parts))


def _scheduled_apart(reduced: list[bool]) -> list[list[int]]:
    """Return the positions that a schedule merges: the innermost ones of a kind, then the rest of each kind.

    Source: ``reductionInterferingView`` in csrc/scheduler/registry_utils.cpp.
    """
    outer = len(reduced)
    while outer and reduced[outer - 1] == reduced[-1]:
        outer -= 1
    rest = ([position for position in range(outer) if reduced[position] == kind] for kind in (True, False))
    return [list(range(outer, len(reduced))), *rest]
