"""What hangs together."""

from collections.abc import Iterable

from segscope.graph.adjacency import successors
from segscope.graph.reach import descendants


def parts(size: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the weakly connected parts of the nodes 0 to ``size`` - 1, each ascending, in order of their lowest."""
    both = successors(size, [pair for a, b in edges for pair in ((a, b), (b, a))])
    found: list[list[int]] = []
    seen: set[int] = set()
    for node in range(size):
        if node not in seen:
            part = {node, *descendants(both, node)}
            seen |= part
            found.append(sorted(part))
    return found
