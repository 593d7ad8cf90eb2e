"""What a fusion computes, and how it is cut, as digests that no numbering changes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Final, NamedTuple

from segscope.dump.scan import UnbalancedError
from segscope.dump.values import VALUE, Names
from segscope.graph import Colours, digest, refine
from segscope.model import Expr, SegmentedFusion, Tensor

_NAMED_BY_OPERATOR: Final = frozenset({"unary", "binary", "ternary", "unknown"})
_NOT_IN_EVERY_ERA: Final = frozenset({"from", "flags", "sizes", "cache_op"})
"""Attributes that shapes or dtypes tell too."""


class Structure(NamedTuple):
    """A fusion without its numbers. The digests are hexadecimal, and the same in every process."""

    computation: str
    """Of the expressions that lead from the fusion's inputs to its outputs, groups or none. How often an expression is
    repeated does not matter: nvFuser repeats casts and squeezes as the cuts ask for (``privatizeUpcast`` in
    csrc/fusion_segmenter.cpp)."""
    segmentation: str
    """Of the groups and of the edges between them."""
    groups: tuple[str, ...]
    """Of the scheduler and the expressions of each group, by index."""


def structure(fusion: SegmentedFusion) -> Structure:
    """Return what is left of a fusion without the numbers of tensors, scalars, iter domains, expressions and groups.

    The order of groups, of edges and of the expressions in a group does not count either. A value is known by its
    definition and its uses, an input or output of the fusion by its position. Takes O(n log n).
    """
    values, colours = colours_of(fusion)
    place = {expr.id: position for position, expr in enumerate(fusion.exprs)}
    above = [colours.above[values[name]] for name in fusion.outputs]
    read = {name for expr in fusion.exprs for name in expr.inputs}
    unread = {colours.above[node] for name, node in values.items() if name.startswith("T") and name not in read}
    groups = [
        digest([group.scheduler.encode(), *sorted(colours.around[place[number]] for number in group.expr_ids)])
        for group in fusion.groups
    ]
    edges = [groups[edge.source] + groups[edge.target] + colours.around[values[edge.value]] for edge in fusion.edges]
    return Structure(
        computation=digest([*above, *sorted(unread)]).hex(),
        segmentation=digest([*sorted(groups), b"edges", *sorted(edges)]).hex(),
        groups=tuple(group.hex() for group in groups),
    )


def colours_of(fusion: SegmentedFusion) -> tuple[dict[str, int], Colours]:
    """Colour expressions and values; the nodes of the values follow those of the expressions, which come in order."""
    names = dict.fromkeys((*fusion.inputs, *fusion.outputs, *(edge.value for edge in fusion.edges)))
    names |= dict.fromkeys(name for expr in fusion.exprs for name in (*expr.inputs, *expr.outputs))
    values = {name: node for node, name in enumerate(names, len(fusion.exprs))}
    given = _given(fusion)
    reads = [[values[name] for name in expr.inputs] for expr in fusion.exprs]
    labels = [_expr_label(expr, given) for expr in fusion.exprs]
    made = {name: (node, at) for node, expr in enumerate(fusion.exprs) for at, name in enumerate(expr.outputs)}
    wanted = {name: at for at, name in enumerate(fusion.outputs)}
    for name in values:
        node, at = made.get(name, (None, None))
        reads.append([] if node is None else [node])
        labels.append(f"value {at} {wanted.get(name)} {given.get(name)} {_value_label(fusion, name, given)}")
    return values, refine(labels, reads)


def _given(fusion: SegmentedFusion) -> dict[str, str]:
    """Return what to call the fusion's inputs, and the scalars that are their extents."""
    given: dict[str, str] = {}
    for position, name in enumerate(fusion.inputs):
        given.setdefault(name, f"input {position}")
        for at, dim in enumerate(tensor.domain if (tensor := fusion.tensors.get(name)) else ()):
            if VALUE.fullmatch(dim.extent):
                given.setdefault(dim.extent, f"extent {at} of input {position}")
    return given


def _value_label(fusion: SegmentedFusion, name: str, given: dict[str, str]) -> str:
    tensor = fusion.tensors.get(name)
    if tensor is None:
        return name.rstrip("0123456789")
    # The dtype of other tensors follows; until August 2024 only those that cross are printed with it.
    dtype = tensor.dtype if name in given else ""
    return f"{dtype} {_shape(tensor, given)} {tensor.mesh}"


def _shape(tensor: Tensor, given: dict[str, str]) -> str:
    sizes = (dim.read_size or _renamed(dim.expanded_extent or dim.extent, given) for dim in tensor.domain)
    return ", ".join(f"{dim.iter_type}{size}" for dim, size in zip(tensor.domain, sizes, strict=True))


def _expr_label(expr: Expr, given: dict[str, str]) -> str:
    """Say what an expression does: its kind and attributes, or its operator and the constants among its operands."""
    own = {name: f"in{at}" for at, name in reversed(list(enumerate(expr.inputs)))}
    own |= {name: f"out{at}" for at, name in enumerate(expr.outputs)}
    names = ChainMap(own, given)
    if expr.kind in _NAMED_BY_OPERATOR or not expr.inputs:
        return f"{expr.kind} {expr.op} {_renamed(_statement(expr), names)}"
    attributes = sorted((key, value) for key, value in expr.attributes.items() if key not in _NOT_IN_EVERY_ERA)
    return f"{expr.kind} {[(key, _renamed(str(value), names)) for key, value in attributes]}"


def _statement(expr: Expr) -> str:
    """Return the text of a statement with its tensors cut down to their names."""
    try:
        return " ".join(Names().abbreviate(expr.text).split())
    except UnbalancedError:
        return expr.op


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Replace the names of values by these, or by a question mark."""
    return VALUE.sub(lambda match: names.get(match[0], "?"), text)
