"""Joins that cost nothing: nodes that the fewest groups can always have together, found before any search."""

from __future__ import annotations

from segscope.graph.partition import Problem


def contract(problem: Problem) -> tuple[Problem, list[int]]:
    """Return a smaller problem with the same fewest connected groups, and for each old node the new one.

    A node with one edge out, which may be within a group, and at most one such edge in joins its target: in any legal
    partition it is at the rim of its group, so it can leave, and behind it nothing else waits. The same holds with the
    direction of the edges turned round.
    """
    home = list(range(problem.size))
    edges = {edge: problem.joinable(edge) for edge in problem.edges}
    out: dict[int, set[int]] = {node: set() for node in home}
    into: dict[int, set[int]] = {node: set() for node in home}
    for source, target in edges:
        out[source].add(target)
        into[target].add(source)

    def joins(node: int) -> int | None:
        """Return the neighbour with which the node can always be."""
        if len(out[node]) == 1:
            (target,) = out[node]
            if edges[node, target] and sum(edges[source, node] for source in into[node]) <= 1:
                return target
        if len(into[node]) == 1:
            (source,) = into[node]
            if edges[source, node] and sum(edges[node, target] for target in out[node]) <= 1:
                return source
        return None

    waiting = home.copy()
    alive = set(home)
    while waiting:
        node = waiting.pop()
        if node not in alive or (other := joins(node)) is None:
            continue
        alive.remove(node)
        home[node] = other
        near = (out.pop(node) | into.pop(node)) - {other}
        for pair in [pair for n in {*near, other} for pair in ((node, n), (n, node)) if pair in edges]:
            joinable = edges.pop(pair)
            renamed = (other if pair[0] == node else pair[0], other if pair[1] == node else pair[1])
            out.get(pair[0], set()).discard(pair[1])
            into.get(pair[1], set()).discard(pair[0])
            if renamed[0] != renamed[1]:
                edges[renamed] = edges.get(renamed, True) and joinable
                out[renamed[0]].add(renamed[1])
                into[renamed[1]].add(renamed[0])
        waiting += [other, *near]
    numbers = {node: number for number, node in enumerate(sorted(alive))}
    new = [numbers[_root(home, node)] for node in range(problem.size)]
    alone = frozenset(new[node] for node in problem.alone)
    apart = {
        (numbers[a], numbers[b]): not joinable and alone.isdisjoint((numbers[a], numbers[b]))
        for (a, b), joinable in edges.items()
    }
    return Problem(len(numbers), apart, alone), new


def _root(home: list[int], node: int) -> int:
    while home[node] != node:
        node = home[node]
    return node
