"""An order in which every edge leads forward."""

from heapq import heapify, heappop, heappush
from typing import NamedTuple

from segscope.graph.adjacency import Successors
from segscope.graph.cycles import shortest_cycle


class Order(NamedTuple):
    """A topological order, or why there is none."""

    nodes: tuple[int, ...]
    """All nodes, or, where there is a cycle, those that come before every cycle."""
    cycle: tuple[int, ...]
    """A shortest cycle, from its lowest node; empty where there is none."""


def topological_order(graph: Successors) -> Order:
    """Order the nodes so that every edge leads forward, of all such orders the first: the lowest ready node goes next.

    Takes O(edges + nodes log nodes), and on a cycle the time of ``shortest_cycle``.
    """
    waiting = [0] * len(graph)
    for targets in graph:
        for target in targets:
            waiting[target] += 1
    ready = [node for node, count in enumerate(waiting) if count == 0]
    heapify(ready)
    nodes: list[int] = []
    while ready:
        node = heappop(ready)
        nodes.append(node)
        for target in graph[node]:
            waiting[target] -= 1
            if waiting[target] == 0:
                heappush(ready, target)
    return Order(tuple(nodes), () if len(nodes) == len(graph) else shortest_cycle(graph))
