"""Which groups a group depends on, kept up to date while groups merge.

Source: ``GroupDependencyAnalysis`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from segscope.segmenter.loop.state import Group


class Dependencies:
    """All groups that a group depends on, directly or not, in the order in which nvFuser lists them."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._before: dict[Group, dict[Group, None]] = {group: {} for group in groups}
        for group in sorted_by_edges(groups):
            before = self._before[group]
            for source in dict.fromkeys(edge.source for edge in group.from_edges):
                before[source] = None
                before |= self._before[source]

    def before(self, group: Group) -> Sequence[Group]:
        """Return what a group depends on."""
        return tuple(self._before[group])

    def depends(self, group: Group, other: Group) -> bool:
        """Say whether a group depends on another."""
        return other in self._before[group]

    def between(self, source: Group, target: Group) -> list[Group]:
        """Return what lies on a path from one group to another, both left out."""
        return [group for group in self._before[target] if source in self._before[group]]

    def merged(self, parts: Iterable[Group], joined: Group) -> None:
        """Note that groups have become one."""
        gone = dict.fromkeys(parts)
        before = {group: None for part in gone for group in self._before.pop(part) if group not in gone}
        self._before[joined] = before
        for others in self._before.values():
            if not gone.keys().isdisjoint(others):
                for part in gone:
                    others.pop(part, None)
                others[joined] = None
                others |= before


def sorted_by_edges(groups: Sequence[Group]) -> list[Group]:
    """Order groups so that each comes after what it depends on, first come first served. Source: ``toposort``."""
    waiting = {group: len(group.from_edges) for group in groups}
    ready = deque(group for group in groups if not group.from_edges)
    order = []
    while ready:
        group = ready.popleft()
        order.append(group)
        for edge in group.to_edges:
            waiting[edge.target] -= 1
            if not waiting[edge.target]:
                ready.append(edge.target)
    assert len(order) == len(groups), "a merge closed a cycle"
    return order
