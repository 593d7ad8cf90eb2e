"""Nodes taken together, against what trying everything gives."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from segscope.graph import descendants, successors, topological_order
from segscope.graph.quotient import between, quotient

Graph = list[list[int]]


@st.composite
def acyclic_graphs(draw: st.DrawFn, most: int = 7) -> Graph:
    size = draw(st.integers(2, most))
    pairs = draw(st.frozensets(st.sampled_from(list(combinations(range(size), 2)))))
    return successors(size, pairs)


@st.composite
def graphs(draw: st.DrawFn, most: int = 6) -> Graph:
    size = draw(st.integers(2, most))
    node = st.integers(0, size - 1)
    return successors(size, draw(st.frozensets(st.tuples(node, node), max_size=2 * size)))


def mapping(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, size - 1), min_size=size, max_size=size)


def has_cycle(graph: Graph) -> bool:
    return bool(topological_order(graph).cycle)


def joined(graph: Graph, nodes: set[int]) -> Graph:
    return quotient(graph, [min(nodes) if node in nodes else node for node in range(len(graph))])


@given(graphs(), st.data())
def test_one_node_reaches_what_its_members_reach(graph: Graph, data: st.DataObject) -> None:
    into = data.draw(mapping(len(graph)))
    small = quotient(graph, into)
    for node in range(len(graph)):
        reached, left = {into[node]}, [into[node]]
        while left:
            here = left.pop()
            near = {into[to] for member in range(len(graph)) if into[member] == here for to in graph[member]}
            left += near - reached
            reached |= near
        assert descendants(small, into[node]) | {into[node]} == reached
        assert node not in small[node]


@given(graphs(), st.data())
def test_twice_is_as_once_by_both(graph: Graph, data: st.DataObject) -> None:
    first, then = data.draw(mapping(len(graph))), data.draw(mapping(len(graph)))
    assert quotient(quotient(graph, first), then) == quotient(graph, [then[node] for node in first])


@given(acyclic_graphs())
def test_nothing_less_than_what_lies_between_can_be_joined(graph: Graph) -> None:
    for ends in combinations(range(len(graph)), 2):
        inner = between(graph, *ends)
        assert not has_cycle(joined(graph, inner | set(ends)))
        for count in range(len(inner)):
            for some in combinations(inner, count):
                assert has_cycle(joined(graph, {*some, *ends}))


@given(acyclic_graphs(), st.data())
def test_joining_others_only_adds_to_what_lies_between(graph: Graph, data: st.DataObject) -> None:
    into = data.draw(mapping(len(graph)))
    small = quotient(graph, into)
    for first, last in combinations(range(len(graph)), 2):
        before = {into[node] for node in between(graph, first, last)}
        assert before <= between(small, into[first], into[last]) | {into[first], into[last]}


@given(graphs())
def test_the_ends_do_not_lie_between(graph: Graph) -> None:
    for first in range(len(graph)):
        for last in range(len(graph)):
            inner = between(graph, first, last)
            assert not inner & {first, last}
            assert all(node in descendants(graph, first) and last in descendants(graph, node) for node in inner)
