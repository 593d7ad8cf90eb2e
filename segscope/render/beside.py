"""Which cuts are drawn from side to side, so that parts that run in parallel stand beside each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from segscope.graph import successors, topological_order

LIGHT: Final = 4
"""How many times less a light cut carries than what else its source writes, and than what else its target reads."""

Pair = tuple[int, int]


def side_cuts(size: int, stored: Mapping[Pair, int], written: Mapping[int, int]) -> frozenset[Pair]:
    """Return the light cuts between boxes that are equally far from the top without them.

    An arrow down puts its target below its source. Where two parts of a fusion share a small table, such an arrow would
    push one of them down as a whole, for what hardly counts. Boxes are numbered from 0 to ``size`` - 1; ``stored`` has
    the bytes of each cut, ``written`` those of the fusion outputs of each box. None where boxes wait for each other.
    """
    leaving: dict[int, list[int]] = defaultdict(list)
    entering: dict[int, list[int]] = defaultdict(list)
    for box, output in written.items():
        leaving[box].append(output)
    for (source, target), carried in stored.items():
        leaving[source].append(carried)
        entering[target].append(carried)
    side = {
        (source, target)
        for (source, target), carried in stored.items()
        if LIGHT * max(carried, 1) <= min(max(leaving[source]), max(entering[target]))
    }
    while side:
        graph = successors(size, stored.keys() - side)
        order = topological_order(graph)
        if order.cycle:
            return frozenset()
        level = [0] * size
        for node in order.nodes:
            for target in graph[node]:
                level[target] = max(level[target], level[node] + 1)
        beside = {pair for pair in side if level[pair[0]] == level[pair[1]]}
        if beside == side:
            break
        side = beside
    return frozenset(side)
