"""What is left when the loop has ended: a segmented fusion like the one that nvFuser prints.

Source: ``finalize``, ``revertPrivatizedOps`` and ``operator<<`` of ``SegmentedFusion`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from segscope.model import Edge, Expr, SegmentedFusion
from segscope.model import Group as Segment
from segscope.segmenter.loop.dependencies import Dependencies
from segscope.segmenter.loop.state import Group, State
from segscope.segmenter.whole import Whole, renamed


def drop_what_stands_for_inputs(state: State) -> None:
    """Leave the groups of expressions, without those that nothing reads and that make no output."""
    for group in state.groups:
        group.from_edges = [edge for edge in group.from_edges if edge.source.nodes]
    state.groups = [g for g in state.groups if g.nodes and (g.from_edges or g.to_edges or g.wanted)]


def folded_copies(state: State) -> dict[int, int]:
    """Return the copies that their group no longer needs, each with the node that stands for it there.

    In each group one of the copies of an expression is left: the original, if it is there.
    """
    whole = state.whole
    instead: dict[int, int] = {}
    for group in state.groups:
        alike: dict[str, list[int]] = {}
        for node in group.nodes:
            alike.setdefault(whole.original(whole.writes[node][0]), []).append(node)
        for original, nodes in alike.items():
            keep = whole.made_by[original] if whole.made_by[original] in nodes else nodes[0]
            instead |= {node: keep for node in nodes if node != keep}
    return instead


def as_segmented(state: State, folded: Mapping[int, int]) -> SegmentedFusion:
    """Return the groups as a model, ids in the order of the list, positions in the order in which nvFuser prints."""
    whole = state.whole
    instead = {whole.writes[node][0]: whole.writes[keep][0] for node, keep in folded.items()}
    exprs = {node: renamed(whole.exprs[node], instead) for group in state.groups for node in group.nodes}
    printed = _as_printed(state.groups)
    place = {group: index for index, group in enumerate(printed)}
    scalars = _Scalars(whole)
    crossing = {
        (place[edge.source], place[edge.target], instead.get(edge.value, edge.value)): None
        for group in printed
        for edge in group.to_edges
    }
    segments, members = [], {}
    for group in printed:
        own = [exprs[node] for node in sorted(group.nodes) if node not in folded]
        read = [*group.given, *(instead.get(edge.value, edge.value) for edge in group.from_edges)]
        written = [*group.wanted, *(instead.get(edge.value, edge.value) for edge in group.to_edges)]
        every = [*scalars.needed(own), *own]
        members.update({expr.id: expr for expr in every})
        segments.append(
            Segment(
                index=place[group],
                id=state.groups.index(group),
                scheduler=group.scheduler,
                inputs=_by_number([*read, *scalars.given(every)]),
                outputs=_by_number(written),
                expr_ids=tuple(expr.id for expr in every),
            )
        )
    return whole.as_fusion.model_copy(
        update={
            "groups": tuple(segments),
            "edges": tuple(Edge(source=source, target=target, value=value) for source, target, value in crossing),
            "exprs": tuple(members.values()),
            "tensors": _mentioned(whole, members.values()),
        }
    )


def as_one_group(whole: Whole, scheduler: str) -> SegmentedFusion:
    """Return a fusion that a scheduler takes as a whole."""
    scalars = _Scalars(whole)
    every = [*scalars.needed(whole.exprs), *whole.exprs]
    segment = Segment(
        index=0,
        id=0,
        scheduler=scheduler,
        inputs=whole.source.inputs,
        outputs=whole.source.outputs,
        expr_ids=tuple(expr.id for expr in every),
    )
    return whole.as_fusion.model_copy(
        update={"groups": (segment,), "exprs": tuple(every), "tensors": _mentioned(whole, every)}
    )


def _as_printed(groups: Sequence[Group]) -> list[Group]:
    """Sort groups as nvFuser prints them: a producer of the first that is left, as far back as one pass finds it."""
    dependencies, left, order = Dependencies(groups), list(groups), []
    while left:
        first = left[0]
        for group in left:
            if dependencies.depends(first, group):
                first = group
        order.append(first)
        left.remove(first)
    return order


class _Scalars:
    """The scalars that expressions need; each group computes its own."""

    def __init__(self, whole: Whole) -> None:
        self._exprs = [expr for expr in whole.source.exprs if expr.is_scalar]
        self._made_by = {name: expr for expr in self._exprs for name in expr.outputs}

    def needed(self, exprs: Iterable[Expr]) -> list[Expr]:
        """Return what defines the scalars that are read, in the order of the dump."""
        ids: set[int] = set()
        left = [name for expr in exprs for name in expr.inputs]
        while left:
            maker = self._made_by.get(left.pop())
            if maker and maker.id not in ids:
                ids.add(maker.id)
                left += maker.inputs
        return [expr for expr in self._exprs if expr.id in ids]

    def given(self, exprs: Sequence[Expr]) -> list[str]:
        """Return the scalars that are read and not defined."""
        read = (name for expr in exprs for name in expr.inputs if not name.startswith("T"))
        return [name for name in read if name not in self._made_by]


def _by_number(names: Iterable[str]) -> tuple[str, ...]:
    """Sort values as nvFuser lists them, each once."""
    return tuple(sorted(dict.fromkeys(names), key=lambda name: int("".join(filter(str.isdigit, name)) or 0)))


def _mentioned(whole: Whole, exprs: Iterable[Expr]) -> dict[str, object]:
    names = {name for expr in exprs for name in (*expr.inputs, *expr.outputs)}
    names |= {*whole.inputs, *whole.outputs}
    return {name: tensor for name, tensor in whole.as_fusion.tensors.items() if name in names}
