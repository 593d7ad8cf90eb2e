"""Nodes taken together as one, and what lies between two."""

from collections.abc import Sequence

from segscope.graph.adjacency import Successors, predecessors, successors
from segscope.graph.reach import descendants


def quotient(graph: Successors, into: Sequence[int]) -> list[list[int]]:
    """Return the graph in which ``into[node]`` stands for each node; edges within one are dropped.

    It has as many nodes as before; those that nothing was taken into have no edges.
    """
    return successors(
        len(graph),
        (
            (into[source], into[target])
            for source, targets in enumerate(graph)
            for target in targets
            if into[source] != into[target]
        ),
    )


def between(graph: Successors, first: int, last: int) -> set[int]:
    """Return the nodes by which edges lead from ``first`` to ``last``, without these two; O(nodes + edges).

    In a graph without cycles these are what must be taken along where both become one node and no cycle may arise.
    """
    return (descendants(graph, first) & descendants(predecessors(graph), last)) - {first, last}
