"""Cycles, and what to cut so that none is left."""

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from segscope.graph.adjacency import Successors, predecessors

EXACT_NODES: Final = 10
"""The most nodes of a strongly connected component in which the fewest edges are found exactly."""


class Cut(NamedTuple):
    """Edges whose removal leaves no cycle."""

    edges: tuple[tuple[int, int], ...]
    """Ascending."""
    exact: bool
    """Whether fewer edges are known not to do; else they are few, not the fewest."""


def components(graph: Successors) -> list[list[int]]:
    """Return the strongly connected components that hold a cycle, each ascending, in order of their lowest nodes.

    Tarjan's algorithm, O(nodes + edges).
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in range(len(graph)):
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        calls = [(root, iter(graph[root]))]
        while calls:
            node, targets = calls[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    calls.append((target, iter(graph[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == number[node]:
                    members = [stack.pop()]
                    while members[-1] != node:
                        members.append(stack.pop())
                    on_stack.difference_update(members)
                    if len(members) > 1 or node in graph[node]:
                        found.append(sorted(members))
    return sorted(found)


def shortest_cycle(graph: Successors) -> tuple[int, ...]:
    """Return a cycle of fewest nodes, from its lowest node on; empty where there is none.

    Breadth-first from one node after another. A node that was a start is taken out, and with it what is then on no
    cycle, so a long ring takes linear time; the worst case is O(nodes * edges).
    """
    best: tuple[int, ...] = ()
    before = predecessors(graph)
    for members in components(graph):
        alive = set(members)
        for start in members:
            if start not in alive or len(best) == 1:
                continue
            best = _cycle_through(graph, start, alive, len(best)) or best
            _take_out(start, graph, before, alive)
    first = best.index(min(best)) if best else 0
    return best[first:] + best[:first]


def _cycle_through(graph: Successors, start: int, alive: set[int], limit: int) -> tuple[int, ...]:
    """Return a shortest cycle through ``start`` within ``alive``, of fewer than ``limit`` nodes where there is one."""
    came_from = {start: start}
    level = [start]
    length = 1
    while level and (not limit or length < limit):
        reached = []
        for node in level:
            for target in graph[node]:
                if target == start:
                    path = [node]
                    while path[-1] != start:
                        path.append(came_from[path[-1]])
                    return tuple(reversed(path))
                if target in alive and target not in came_from:
                    came_from[target] = node
                    reached.append(target)
        level = reached
        length += 1
    return ()


def _take_out(start: int, graph: Successors, before: Successors, alive: set[int]) -> None:
    alive.discard(start)
    left = [start]
    while left:
        gone = left.pop()
        for near, other in ((graph, before), (before, graph)):
            for node in near[gone]:
                if node in alive and not any(n in alive for n in other[node]):
                    alive.discard(node)
                    left.append(node)


def fewest_cuts(graph: Successors) -> Cut:
    """Return the fewest edges whose removal leaves no cycle.

    The fewest, by trying every order, in strongly connected components of up to ``EXACT_NODES`` nodes; in larger ones
    those that lead back in the order of Eades, Lin and Smyth (1993), which takes linear time.
    """
    edges: list[tuple[int, int]] = []
    exact = True
    for members in components(graph):
        inside = set(members)
        within = {node: [target for target in graph[node] if target in inside] for node in members}
        if len(members) <= EXACT_NODES:
            order = _best_order(members, within)
        else:
            exact = False
            order = _good_order(members, within)
        place = {node: position for position, node in enumerate(order)}
        edges += [(node, target) for node in members for target in within[node] if place[target] <= place[node]]
    return Cut(tuple(sorted(edges)), exact)


def _best_order(members: Sequence[int], within: dict[int, list[int]]) -> list[int]:
    """Return an order in which the fewest edges lead back, from the best order of every set that may go first."""
    bit = {node: 1 << position for position, node in enumerate(members)}
    targets = [sum(bit[target] for target in within[node] if target != node) for node in members]
    cost = [0] * (1 << len(members))
    last = [0] * (1 << len(members))
    for first in range(1, len(cost)):
        options = (
            (cost[first ^ (1 << i)] + (targets[i] & first).bit_count(), i)
            for i in range(len(members))
            if first >> i & 1
        )
        cost[first], last[first] = min(options)
    order: list[int] = []
    left = len(cost) - 1
    while left:
        order.append(members[last[left]])
        left ^= 1 << last[left]
    return order[::-1]


def _good_order(members: Sequence[int], within: dict[int, list[int]]) -> list[int]:
    """Return an order in which few edges lead back: sinks last, sources first, else the node that has most ahead."""
    ahead = {node: [target for target in within[node] if target != node] for node in members}
    behind: dict[int, list[int]] = {node: [] for node in members}
    for node, targets in ahead.items():
        for target in targets:
            behind[target].append(node)
    leaving = {node: len(targets) for node, targets in ahead.items()}
    entering = {node: len(sources) for node, sources in behind.items()}
    bins: dict[int, dict[int, None]] = {}

    def rank(node: int) -> int:
        return leaving[node] - entering[node]

    for node in members:
        bins.setdefault(rank(node), {})[node] = None
    ready = deque(node for node in members if not leaving[node] or not entering[node])
    left = dict.fromkeys(members)
    top = max(bins)
    front: list[int] = []
    back: list[int] = []
    while left:
        if ready:
            node = ready.popleft()
            if node not in left:
                continue
        else:
            while not bins.get(top):
                top -= 1
            node = next(iter(bins[top]))
        del left[node], bins[rank(node)][node]
        (front if leaving[node] else back).append(node)
        for near, count in ((ahead, entering), (behind, leaving)):
            for other in near[node]:
                if other not in left:
                    continue
                del bins[rank(other)][other]
                count[other] -= 1
                bins.setdefault(rank(other), {})[other] = None
                top = max(top, rank(other))
                if not count[other]:
                    ready.append(other)
    return front + back[::-1]
