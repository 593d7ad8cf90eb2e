"""The fewest groups that the nodes of an acyclic graph can be put into, where groups must not wait for each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from segscope.graph.adjacency import successors
from segscope.graph.order import topological_order
from segscope.graph.parts import parts

Edge = tuple[int, int]


@dataclass(frozen=True)
class Problem:
    """An acyclic graph, and what may not be in one group."""

    size: int
    """The nodes are 0 to ``size`` - 1."""
    edges: Mapping[Edge, bool]
    """(source, target), and whether the two must be in different groups."""
    alone: frozenset[int] = frozenset()
    """Nodes that are a group each, which no other node joins."""

    def joinable(self, edge: Edge) -> bool:
        """Say whether the ends of an edge may be in one group, as far as the edge alone tells."""
        return not self.edges[edge] and self.alone.isdisjoint(edge)


class Partition(NamedTuple):
    """Groups in an order in which every edge between two of them leads forward."""

    groups: tuple[tuple[int, ...], ...]
    """The nodes of each, ascending."""
    at_least: int
    """No legal partition has fewer groups; equal to the number of groups where that is known to be the fewest."""


def check_partition(problem: Problem, groups: Iterable[Iterable[int]], *, connected: bool) -> str | None:
    """Say what is wrong with groups, None if nothing is: for those who do not trust how they were found.

    Each node is in one group, nodes that must be alone or apart are, no group waits for itself over others, and, if
    ``connected``, each hangs together over edges within it.
    """
    home: dict[int, int] = {}
    sets = [set(group) for group in groups]
    for index, nodes in enumerate(sets):
        for node in nodes:
            if node in home:
                return f"node {node} is in two groups"
            home[node] = index
    if home.keys() != set(range(problem.size)):
        return "not every node is in a group"
    for node in problem.alone:
        if len(sets[home[node]]) > 1:
            return f"node {node} is not alone"
    for (source, target), apart in problem.edges.items():
        if apart and home[source] == home[target]:
            return f"nodes {source} and {target} are not apart"
    if topological_order(_quotient(problem, home, len(sets))).cycle:
        return "groups wait for each other"
    if connected:
        for nodes in sets:
            inside = [(a, b) for a, b in problem.edges if a in nodes and b in nodes]
            if sorted(nodes) not in parts(problem.size, inside):
                return f"the group of node {min(nodes)} does not hang together"
    return None


def fewest_levels(problem: Problem) -> Partition:
    """Return the fewest groups where a group need not hang together: a longest path tells, in linear time."""
    level = levels(problem)
    groups: dict[tuple[int, int], list[int]] = {}
    for node in range(problem.size):
        # a lone node comes behind the groups of its level
        groups.setdefault((level[node], node + 1 if node in problem.alone else 0), []).append(node)
    order = topological_order(successors(problem.size, problem.edges)).nodes
    place = {node: position for position, node in enumerate(order)}
    keys = sorted(groups, key=lambda key: (key[0], key[1] > 0, place[groups[key][0]]))
    return Partition(tuple(tuple(groups[key]) for key in keys), len(groups))


def levels(problem: Problem) -> list[int]:
    """Return for each node how many groups, one behind the other, must come before its own, at least.

    Lone nodes are not counted among them: such a node stands right behind the groups of its level, from -1 on.
    """
    graph = successors(problem.size, problem.edges)
    level = [-1 if node in problem.alone else 0 for node in range(problem.size)]
    for node in topological_order(graph).nodes:
        for target in graph[node]:
            level[target] = max(level[target], level[node] + step(problem, (node, target)))
    return level


def step(problem: Problem, edge: Edge) -> int:
    """Return how many levels an edge leads up at least, 0 or 1."""
    source, target = edge
    return int(target not in problem.alone and (source in problem.alone or problem.edges[edge]))


def greedy_groups(problem: Problem, seconds: float = 10.0) -> Partition:
    """Return few groups that hang together: edge by edge, ends are joined where that is legal; not always the fewest.

    Of two orders, from the first edges on and from the last ones, the better. After ``seconds`` no more is joined.
    """
    end = monotonic() + seconds
    place = {node: at for at, node in enumerate(topological_order(successors(problem.size, problem.edges)).nodes)}
    edges = sorted(filter(problem.joinable, problem.edges), key=lambda edge: (place[edge[1]], place[edge[0]]))
    homes = [_Joining(problem).join(order, end) for order in (edges, edges[::-1])]
    best = min(homes, key=lambda home: len(set(home)))
    return Partition(in_order(problem, best), len(fewest_levels(problem).groups))


def in_order(problem: Problem, home: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Return groups, given as a number for each node, in an order in which every edge between them leads forward."""
    members: dict[int, list[int]] = {}
    for node, name in enumerate(home):
        members.setdefault(name, []).append(node)
    groups = [tuple(nodes) for nodes in members.values()]
    at = {node: index for index, nodes in enumerate(groups) for node in nodes}
    return tuple(groups[index] for index in topological_order(_quotient(problem, at, len(groups))).nodes)


class _Joining:
    """Groups that grow, with what leads from one to another and what must be apart."""

    def __init__(self, problem: Problem) -> None:
        self._home = list(range(problem.size))
        self._members = [[node] for node in self._home]
        self._out: list[set[int]] = [set() for _ in self._home]
        self._into: list[set[int]] = [set() for _ in self._home]
        self._apart: list[set[int]] = [set() for _ in self._home]
        for (source, target), apart in problem.edges.items():
            self._out[source].add(target)
            self._into[target].add(source)
            if apart:
                self._apart[source].add(target)
                self._apart[target].add(source)

    def join(self, edges: Iterable[Edge], end: float) -> list[int]:
        """Join what can be joined, and return the name of each node's group."""
        for source, target in edges:
            if monotonic() > end:
                break
            a, b = self._home[source], self._home[target]
            if a != b and b not in self._apart[a] and not self._second_way(a, b):
                self._take_in(a, b)
        return self._home

    def _second_way(self, a: int, b: int) -> bool:
        left = [node for node in self._out[a] if node != b]
        seen = set(left)
        while left:
            for node in self._out[left.pop()]:
                if node == b:
                    return True
                if node not in seen:
                    seen.add(node)
                    left.append(node)
        return False

    def _take_in(self, a: int, b: int) -> None:
        if len(self._members[a]) < len(self._members[b]):
            a, b = b, a
        for node in self._members[b]:
            self._home[node] = a
        self._members[a] += self._members[b]
        for one, other in ((self._out, self._into), (self._into, self._out), (self._apart, self._apart)):
            for node in one[b]:
                other[node].discard(b)
                if node != a:
                    other[node].add(a)
                    one[a].add(node)
            one[b] = set()
            one[a].discard(b)


def _quotient(problem: Problem, home: Mapping[int, int], size: int) -> list[list[int]]:
    """Return the graph of the groups."""
    return successors(size, ((home[a], home[b]) for a, b in problem.edges if home[a] != home[b]))
