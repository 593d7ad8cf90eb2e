"""Merges of reductions over the same dimensions, before the rounds.

Source: ``CombineReductions`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from segscope.segmenter.loop.dependencies import Dependencies
from segscope.segmenter.loop.state import Group, State

_REDUCTIONS: Final = frozenset({"reduction", "welford"})
_Signature = tuple[int, tuple[int, ...]]
"""The rank of a reduction's output, and which of its dimensions are reduced."""


def combine_reductions(state: State) -> None:
    """Merge pairs of reductions of one signature, with what lies between, as long as there are any."""
    signatures = {group: found for group in state.groups if (found := _signature(state, group))}
    if len({found for found in signatures.values() if found[1]}) < sum(bool(found[1]) for found in signatures.values()):
        combiner = _Combiner(state, signatures)
        while combiner.merge_one():
            pass


def _signature(state: State, group: Group) -> _Signature | None:
    for node in group.nodes:
        if state.whole.exprs[node].kind in _REDUCTIONS:
            domain = state.whole.tensor(state.whole.writes[node][0]).domain
            return len(domain), tuple(at for at, dim in enumerate(domain) if dim.iter_type == "r")
    return None


class _Combiner:
    def __init__(self, state: State, signatures: dict[Group, _Signature]) -> None:
        self._state = state
        self._signatures = signatures
        """The groups with reductions, in order; merged ones come last."""
        self._dependencies = Dependencies(state.groups)

    def merge_one(self) -> bool:
        """Merge the first pair that can be merged."""
        groups = list(self._signatures)
        for at, one in enumerate(groups):
            for other in groups[at + 1 :]:
                if self._signatures[one] == self._signatures[other] and (
                    self._vertical(one, other) or self._horizontal(one, other)
                ):
                    return True
        return False

    def _vertical(self, one: Group, other: Group) -> bool:
        """Merge two of which one depends on the other."""
        if self._dependencies.depends(one, other):
            one, other = other, one
        elif not self._dependencies.depends(other, one):
            return False
        return self._merge(self._closed(one, other))

    def _horizontal(self, one: Group, other: Group) -> bool:
        """Merge two that do not depend on each other, each with the way to it from a nearest common source."""
        if self._dependencies.depends(one, other) or self._dependencies.depends(other, one):
            return False
        before = sorted((self._dependencies.before(group) for group in (one, other)), key=len)
        common = [group for group in before[0] if group in before[1]]
        for source in common:
            if any(self._dependencies.depends(group, source) for group in common):
                continue
            readers = [edge.target for edge in source.to_edges]
            for first in readers:
                way = self._closed(first, one)
                for second in readers if way else ():
                    other_way = self._closed(second, other)
                    if other_way and self._merge(list(dict.fromkeys([*other_way, *way]))):
                        return True
        return False

    def _closed(self, source: Group, target: Group) -> list[Group]:
        """Return two groups and all between; none where reductions differ, or an output of the fusion would be inside.

        One group where both are the same.
        """
        if source is target:
            return [source]
        if not self._dependencies.depends(target, source):
            return []
        groups = [*self._dependencies.between(source, target), source, target]
        for group in groups:
            if any(edge.source in groups and edge.value in self._state.outputs for edge in group.from_edges):
                return []
        found = {self._signatures[group] for group in groups if group in self._signatures}
        return groups if len(found) < 2 else []

    def _merge(self, groups: Sequence[Group]) -> bool:
        if not groups or not self._state.accepts(groups, "reductions"):
            return False
        signature = next(self._signatures[group] for group in groups if group in self._signatures)
        joined = self._state.join_set(groups)
        self._dependencies.merged(groups, joined)
        self._signatures = {group: found for group, found in self._signatures.items() if group not in groups}
        self._signatures[joined] = signature
        return True
