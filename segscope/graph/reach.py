"""What can be reached from where."""

from segscope.graph.adjacency import Successors


def descendants(graph: Successors, start: int) -> set[int]:
    """Return the nodes that at least one edge leads to from ``start``; ``start`` itself only where it is on a cycle."""
    seen: set[int] = set()
    left = [start]
    while left:
        for target in graph[left.pop()]:
            if target not in seen:
                seen.add(target)
                left.append(target)
    return seen


def shortest_path(graph: Successors, source: int, target: int) -> tuple[int, ...]:
    """Return a path of fewest edges from ``source`` to ``target``, both included; empty where there is none.

    From a node to itself it is a shortest cycle through the node, which then stands at both ends.
    """
    came_from: dict[int, int] = {}
    level = [source]
    while level and target not in came_from:
        reached = []
        for node in level:
            for after in graph[node]:
                if after not in came_from:
                    came_from[after] = node
                    reached.append(after)
        level = reached
    if target not in came_from:
        return ()
    path = [target]
    while len(path) == 1 or path[-1] != source:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))
