"""Colours against every numbering, and against what a node is read from."""

from __future__ import annotations

from itertools import permutations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from segscope.graph import refine

Graph = tuple[list[str], list[list[int]]]


@st.composite
def acyclic(draw: st.DrawFn, most: int = 8) -> Graph:
    size = draw(st.integers(1, most))
    labels = [draw(st.sampled_from("ab")) for _ in range(size)]
    reads = [draw(st.lists(st.integers(0, node - 1), max_size=3)) if node else [] for node in range(size)]
    return labels, reads


def renumbered(graph: Graph, to: list[int] | tuple[int, ...]) -> Graph:
    labels, reads = graph
    back = {new: old for old, new in enumerate(to)}
    order = [back[new] for new in range(len(to))]
    return [labels[old] for old in order], [[to[source] for source in reads[old]] for old in order]


def isomorphic(one: Graph, other: Graph) -> bool:
    return any(renumbered(one, to) == other for to in permutations(range(len(one[0]))))


@given(acyclic(), st.randoms())
def test_a_node_keeps_its_colours_under_every_numbering(graph: Graph, random: Random) -> None:
    to = list(range(len(graph[0])))
    random.shuffle(to)
    before, after = refine(*graph), refine(*renumbered(graph, to))
    assert [after.above[new] for new in to] == before.above
    assert [after.around[new] for new in to] == before.around


@given(acyclic())
def test_the_colour_from_above_is_what_the_node_is_made_of(graph: Graph) -> None:
    labels, reads = graph
    made_of: list[object] = []
    for label, sources in zip(labels, reads, strict=True):
        made_of.append((label, tuple(made_of[source] for source in sources)))
    above = refine(*graph).above
    for node, colour in enumerate(above):
        assert [other == colour for other in above] == [other == made_of[node] for other in made_of]


@settings(max_examples=300)
@given(acyclic(most=4), acyclic(most=4))
def test_small_graphs_of_the_same_colours_are_the_same(one: Graph, other: Graph) -> None:
    alike = sorted(refine(*one).around) == sorted(refine(*other).around)
    assert alike == (len(one[0]) == len(other[0]) and isomorphic(one, other))


def test_twins_are_told_apart_by_what_their_users_also_read() -> None:
    """Two of three alike sources, 0 and 1, feed one node, and 2 another; 0 is also read by one of a kind."""
    labels = ["source"] * 3 + ["pair", "single", "own"]
    reads = [[], [], [], [0, 1], [2], [0]]
    found = refine(labels, reads)
    assert len(set(found.above[:3])) == 1
    assert len(set(found.around[:3])) == 3


def test_the_order_of_what_is_read_counts() -> None:
    labels = ["a", "b", "minus"]
    assert refine(labels, [[], [], [0, 1]]).above[2] != refine(labels, [[], [], [1, 0]]).above[2]


def test_a_cycle_is_no_trouble() -> None:
    found = refine(["a", "b", "c", "d"], [[], [0, 2], [1], []])
    assert len(set(found.around)) == 4
    assert refine([], []) == ([], [])


def test_a_long_chain_is_two_passes() -> None:
    size = 50_000
    found = refine(["x"] * size, [[node - 1] if node else [] for node in range(size)])
    assert len(set(found.above)) == len(set(found.around)) == size
