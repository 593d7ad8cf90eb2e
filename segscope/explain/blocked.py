"""Merges that would close a cycle, and the merges that made them impossible."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

from segscope.explain.history import History
from segscope.explain.merge import WaysBack
from segscope.graph import Successors, descendants, predecessors, successors
from segscope.graph.quotient import between, quotient
from segscope.model import SegmentedFusion
from segscope.model.base import Model


class Blocked(Model):
    """Two kernel groups with a cut between them, and a second way from the one to the other over further groups.

    As one group they would both feed and wait for the groups on that way: nvFuser merges no such pair.
    """

    source: int
    """Index of the producing group."""
    target: int
    """Index of the consuming group."""
    value: str
    """A value that crosses. Of several, the one whose producer and reader could be joined the longest."""
    path: tuple[int, ...]
    """Group indices: a shortest second way, from ``source`` to ``target``; of equal ones, one over kernel groups."""
    values: tuple[str, ...]
    """A value for each step of the path."""
    merge: int | None
    """Index into ``History.merges`` of the merge with which ``value`` had to cross.

    With the merges before it, what then held the producer of ``value`` could be joined with what held a reader in the
    target, and with what lay between them, taking nothing of other groups along; with it no more. None where that never
    was possible, or where the log does not tell.
    """
    early: int | None
    """Index of the first merge with which a cut between the two sides was certain, wherever it was to be.

    Asked as for ``merge``, but also between the reader and every expression of the source that leads to ``value``, and
    between the producer and every expression of the target that ``value`` leads to. ``merge`` itself where no earlier
    one parts any of them; those that were apart from the beginning do not count.
    """


def blocked(fusion: SegmentedFusion, history: History) -> tuple[Blocked, ...]:
    """Return, in order of the cuts, the pairs of kernel groups with a cut between them whose merge would close a cycle.

    What counts are edges, as with nvFuser (``GroupDependencyAnalysis`` in csrc/fusion_segmenter.cpp). A copy of a cast
    or squeeze that nvFuser took back counts as its original.
    """
    crossing = {(source, target): values for source, target, values in fusion.cuts}
    kernels = {group.index for group in fusion.kernel_groups}
    ways = WaysBack(fusion, crossing)
    past = _Past(fusion, history)
    found = []
    for (source, target), values in crossing.items():
        path = ways.shortest((source, target)) if kernels.issuperset((source, target)) else ()
        if not path:
            continue
        parted = {value: past.parted(source, target, value) for value in values}
        value, (merge, early) = max(parted.items(), key=lambda item: -1 if item[1][0] is None else item[1][0])
        found.append(
            Blocked(
                source=source,
                target=target,
                value=value,
                path=path,
                values=tuple(crossing[step][0] for step in pairwise(path)),
                merge=merge,
                early=early,
            )
        )
    return tuple(found)


class _Past:
    """The tensor expressions of every group, joined as they were after the first merges.

    An expression that is in several groups is a node in each.
    """

    def __init__(self, fusion: SegmentedFusion, history: History) -> None:
        self._nodes = [
            (group.index, expr) for group in fusion.groups for expr in fusion.exprs_of(group) if not expr.is_scalar
        ]
        self._made = {
            (group, name): node for node, (group, expr) in enumerate(self._nodes) for name in expr.tensor_outputs
        }
        sources: dict[tuple[int, str], list[int]] = defaultdict(list)
        for edge in fusion.edges:
            sources[edge.target, edge.value].append(edge.source)
        self._graph = successors(
            len(self._nodes),
            (
                (self._made[source, name], node)
                for node, (group, expr) in enumerate(self._nodes)
                for name in expr.tensor_inputs
                for source in ([group] if (group, name) in self._made else sources[group, name])
                if (source, name) in self._made
            ),
        )
        self._back = predecessors(self._graph)
        self._merged = self._joined(history)
        self._states: dict[int, tuple[list[int], Successors]] = {}

    def _joined(self, history: History) -> list[list[int]]:
        """Return for each merge its nodes, in the group that holds them all; none where no group does."""
        places: dict[int, dict[int, int]] = defaultdict(dict)
        for node, (group, expr) in enumerate(self._nodes):
            places[group][expr.id] = node
        tensors = {expr.id for _, expr in self._nodes}
        merged = []
        for merge in history.merges:
            ids = tensors.intersection(merge.expr_ids)
            place = next((place for place in places.values() if ids <= place.keys()), {})
            merged.append([place[i] for i in ids if i in place])
        return merged

    def parted(self, source: int, target: int, value: str) -> tuple[int | None, int | None]:
        """Return ``Blocked.merge`` and ``Blocked.early`` of a value that crosses from source to target."""
        maker = self._made.get((source, value))
        readers = [
            node for node, (group, expr) in enumerate(self._nodes) if group == target and value in expr.tensor_inputs
        ]
        if maker is None or not readers:
            return None, None

        def from_readers(node: int) -> int | None:
            return self._first(lambda done: all(self._apart(done, node, reader) for reader in readers))

        def from_maker(node: int) -> int | None:
            return self._first(lambda done: self._apart(done, maker, node))

        merge = from_readers(maker)
        before = self._within(source, descendants(self._back, maker))
        behind = self._within(target, set().union(*(descendants(self._graph, reader) for reader in readers)))
        firsts = [merge, *map(from_readers, before), *map(from_maker, behind)]
        return merge, min((index for index in firsts if index is not None), default=None)

    def _within(self, group: int, nodes: set[int]) -> list[int]:
        return [node for node in nodes if self._nodes[node][0] == group]

    def _first(self, holds: Callable[[int], bool]) -> int | None:
        """Return the merge with which something came to hold; None where it did from the beginning, or never.

        Merges only add to what lies between two nodes: what holds after one holds after all later ones.
        """
        done = bisect_left(range(len(self._merged) + 1), True, key=holds)
        return done - 1 if 0 < done <= len(self._merged) else None

    def _apart(self, done: int, first: int, last: int) -> bool:
        """Say whether, after so many merges, something of a third group lay between what held the two nodes."""
        into, graph = self._state(done)
        own = (self._nodes[first][0], self._nodes[last][0])
        return any(self._nodes[node][0] not in own for node in between(graph, into[first], into[last]))

    def _state(self, done: int) -> tuple[list[int], Successors]:
        """Return, after so many merges, for each node the one that stands for it, and the graph of these."""
        if done not in self._states:
            into = list(range(len(self._nodes)))
            for nodes in self._merged[:done]:
                for node in nodes:
                    into[node] = nodes[0]
            self._states[done] = into, quotient(self._graph, into)
        return self._states[done]
