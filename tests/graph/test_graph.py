"""Order, reachability and cycles against what trying everything gives."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segscope.graph import (
    components,
    descendants,
    fewest_cuts,
    predecessors,
    shortest_cycle,
    shortest_path,
    successors,
    topological_order,
)
from segscope.graph.cycles import EXACT_NODES

Edges = frozenset[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 6) -> tuple[int, Edges]:
    size = draw(st.integers(1, most))
    node = st.integers(0, size - 1)
    return size, draw(st.frozensets(st.tuples(node, node), max_size=3 * size))


def simple_cycles(size: int, edges: Edges) -> list[tuple[int, ...]]:
    return [
        nodes
        for length in range(1, size + 1)
        for nodes in permutations(range(size), length)
        if nodes[0] == min(nodes) and edges.issuperset(zip(nodes, (*nodes[1:], nodes[0]), strict=True))
    ]


def closure(size: int, edges: Edges) -> set[tuple[int, int]]:
    reach = set(edges)
    for middle in range(size):
        reach |= {(a, b) for a in range(size) for b in range(size) if {(a, middle), (middle, b)} <= reach}
    return reach


@given(graphs())
def test_predecessors_turn_the_edges_round(case: tuple[int, Edges]) -> None:
    size, edges = case
    assert predecessors(successors(size, edges)) == successors(size, {(b, a) for a, b in edges})


@given(graphs())
def test_the_order_is_the_first_of_all_or_there_is_a_shortest_cycle(case: tuple[int, Edges]) -> None:
    size, edges = case
    order = topological_order(successors(size, edges))
    fits = (
        nodes
        for nodes in permutations(range(size))
        if all(nodes.index(source) < nodes.index(to) for source, to in edges)
    )
    cycles = simple_cycles(size, edges)
    if cycles:
        assert order.cycle in cycles
        assert len(order.cycle) == len(cycles[0])
        assert order.cycle == shortest_cycle(successors(size, edges))
        on_cycles = {node for cycle in cycles for node in cycle}
        behind = {to for source, to in closure(size, edges) if source in on_cycles}
        assert set(order.nodes) == set(range(size)) - on_cycles - behind
    else:
        assert order == (next(fits), ())


@given(graphs())
def test_reachability_is_the_closure_of_the_edges(case: tuple[int, Edges]) -> None:
    size, edges = case
    reach = closure(size, edges)
    graph = successors(size, edges)
    for start in range(size):
        assert descendants(graph, start) == {to for source, to in reach if source == start}
        for target in range(size):
            path = shortest_path(graph, start, target)
            assert bool(path) == ((start, target) in reach)
            if path:
                assert (path[0], path[-1]) == (start, target)
                assert edges.issuperset(pairwise(path))
                inner = [node for node in range(size) if node not in (start, target)]
                shorter = (between for n in range(len(path) - 2) for between in permutations(inner, n))
                assert not any(edges.issuperset(pairwise((start, *between, target))) for between in shorter)


@given(graphs())
def test_components_are_the_nodes_that_reach_each_other(case: tuple[int, Edges]) -> None:
    size, edges = case
    reach = closure(size, edges)
    expected = {tuple(b for b in range(size) if {(a, b), (b, a)} <= reach) for a in range(size) if (a, a) in reach}
    assert components(successors(size, edges)) == [list(members) for members in sorted(expected)]


@settings(max_examples=60)
@given(graphs(4))
def test_no_fewer_edges_will_do(case: tuple[int, Edges]) -> None:
    size, edges = case
    cut = fewest_cuts(successors(size, edges))
    assert cut.exact
    assert edges.issuperset(cut.edges)
    assert not simple_cycles(size, edges - set(cut.edges))
    if len(cut.edges) > 1:
        assert all(simple_cycles(size, edges - set(some)) for some in combinations(edges, len(cut.edges) - 1))


@given(graphs(40))
def test_the_cut_leaves_no_cycle_in_a_larger_graph(case: tuple[int, Edges]) -> None:
    size, edges = case
    cut = fewest_cuts(successors(size, edges))
    assert edges.issuperset(cut.edges)
    assert topological_order(successors(size, edges - set(cut.edges))).cycle == ()
    assert cut.exact == all(len(members) <= EXACT_NODES for members in components(successors(size, edges)))


@pytest.mark.parametrize("size", [EXACT_NODES + 1, 20_000])
def test_a_ring_is_cut_once(size: int) -> None:
    ring = successors(size, [(node, (node + 1) % size) for node in range(size)])
    assert shortest_cycle(ring) == tuple(range(size))
    cut = fewest_cuts(ring)
    assert len(cut.edges) == 1
    assert not cut.exact


def test_a_long_chain_is_no_recursion() -> None:
    size = 50_000
    chain = successors(size, [(node, node + 1) for node in range(size - 1)])
    assert topological_order(chain) == (tuple(range(size)), ())
    assert components(chain) == []
    assert len(shortest_path(chain, 0, size - 1)) == size
