"""Random sets of expressions that could be a group: they hang together, and no path leaves and comes back."""

from __future__ import annotations

import random
from collections.abc import Iterator

from segscope.segmenter.oracle import Candidate
from segscope.segmenter.whole import Whole


def convex_sets(whole: Whole, count: int, seed: int) -> list[Candidate]:
    """Return that many different sets, or as many as are found."""
    chance = random.Random(seed)
    found: dict[tuple[int, ...], Candidate] = {}
    for _ in range(20 * count):
        nodes = _grown(whole, chance)
        found.setdefault(nodes, as_candidate(whole, nodes))
        if len(found) == count:
            break
    return list(found.values())


def as_candidate(whole: Whole, nodes: tuple[int, ...]) -> Candidate:
    """Return a set of nodes with what it reads, and what others read of it."""
    inside = set(nodes)
    made = set(whole.names(nodes))
    inputs = dict.fromkeys(name for node in nodes for name in whole.reads[node] if name not in made)
    outputs = tuple(
        name
        for name in whole.names(nodes)
        if name in whole.outputs or not inside.issuperset(whole.read_by.get(name, ()))
    )
    return Candidate(nodes, tuple(inputs), outputs)


def _grown(whole: Whole, chance: random.Random) -> tuple[int, ...]:
    nodes = {chance.randrange(len(whole.exprs))}
    for _ in range(chance.randint(0, chance.choice((3, 8, 30)))):
        near = sorted({other for node in nodes for other in _near(whole, node)} - nodes)
        if not near:
            break
        nodes.add(chance.choice(near))
        nodes |= _reached(whole, nodes, forwards=True) & _reached(whole, nodes, forwards=False)
    return tuple(sorted(nodes))


def _near(whole: Whole, node: int) -> Iterator[int]:
    yield from _next(whole, node, forwards=True)
    yield from _next(whole, node, forwards=False)


def _next(whole: Whole, node: int, *, forwards: bool) -> Iterator[int]:
    if forwards:
        for name in whole.writes[node]:
            yield from whole.read_by.get(name, ())
    else:
        yield from (whole.made_by[name] for name in whole.reads[node] if name in whole.made_by)


def _reached(whole: Whole, nodes: set[int], *, forwards: bool) -> set[int]:
    seen: set[int] = set()
    left = list(nodes)
    while left:
        for other in _next(whole, left.pop(), forwards=forwards):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen
