"""From edges to successors and back."""

from collections.abc import Iterable, Sequence

Successors = Sequence[Sequence[int]]


def successors(size: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the successors of the nodes 0 to ``size`` - 1: ascending, each once."""
    found: list[set[int]] = [set() for _ in range(size)]
    for source, target in edges:
        found[source].add(target)
    return [sorted(nodes) for nodes in found]


def predecessors(graph: Successors) -> list[list[int]]:
    """Return for each node the nodes that an edge leads from, ascending."""
    found: list[list[int]] = [[] for _ in graph]
    for source, targets in enumerate(graph):
        for target in targets:
            found[target].append(source)
    return found
