"""The fewest groups, against a search of another kind and a verifier that does not trust the finder."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segscope.graph.contract import contract
from segscope.graph.partition import (
    Partition,
    Problem,
    check_partition,
    fewest_levels,
    greedy_groups,
)
from segscope.graph.solve import fewest_groups


@st.composite
def problems(draw: st.DrawFn, most: int = 10) -> Problem:
    size = draw(st.integers(1, most))
    pairs = [(a, b) for b in range(size) for a in range(b)]
    density = draw(st.sampled_from([2, 3, 5]))
    edges = {pair: draw(st.integers(0, 3)) == 0 for pair in pairs if draw(st.integers(1, density)) == 1}
    alone = draw(st.frozensets(st.integers(0, size - 1), max_size=2)) if draw(st.booleans()) else frozenset()
    names = draw(st.permutations(range(size)))
    return Problem(
        size,
        {(names[a], names[b]): apart for (a, b), apart in edges.items()},
        frozenset(names[node] for node in alone),
    )


def brute_force(problem: Problem, *, connected: bool) -> int:
    """Take groups off from the front, in every way: what is taken first needs nothing of what is left."""
    needs = [sum(1 << a for a, b in problem.edges if b == node) for node in range(problem.size)]
    apart = [(1 << a) | (1 << b) for (a, b), far in problem.edges.items() if far]
    joined = [(1 << a) | (1 << b) for a, b in problem.edges]
    alone = sum(1 << node for node in problem.alone)

    def legal(group: int) -> bool:
        if group & alone and group & (group - 1):
            return False
        if any(group & pair == pair for pair in apart):
            return False
        reached = group & -group
        while connected:
            more = reached
            for pair in joined:
                if group & pair == pair and reached & pair:
                    more |= pair
            if more == reached:
                return reached == group
            reached = more
        return True

    @cache
    def fewest(taken: int) -> int:
        left = (1 << problem.size) - 1 & ~taken
        if not left:
            return 0
        best = problem.size
        group = left
        while group:
            closed = all(needs[node] & ~(taken | group) == 0 for node in range(problem.size) if group >> node & 1)
            if closed and legal(group):
                best = min(best, 1 + fewest(taken | group))
            group = (group - 1) & left
        return best

    return fewest(0)


@given(problems())
@settings(max_examples=300)
def test_the_solver_finds_the_fewest_that_hang_together(problem: Problem) -> None:
    found = fewest_groups(problem, 60)
    assert check_partition(problem, found.groups, connected=True) is None
    assert len(found.groups) == found.at_least == brute_force(problem, connected=True)


@given(problems())
@settings(max_examples=300)
def test_a_longest_path_tells_the_fewest(problem: Problem) -> None:
    found = fewest_levels(problem)
    assert check_partition(problem, found.groups, connected=False) is None
    assert len(found.groups) == found.at_least == brute_force(problem, connected=False)


@given(problems())
@settings(max_examples=200)
def test_joining_greedily_is_legal_and_its_bound_holds(problem: Problem) -> None:
    found = greedy_groups(problem)
    assert check_partition(problem, found.groups, connected=True) is None
    assert found.at_least <= brute_force(problem, connected=True) <= len(found.groups)


@given(problems())
@settings(max_examples=200)
def test_contracting_changes_nothing(problem: Problem) -> None:
    small, place = contract(problem)
    assert set(place) == set(range(small.size))
    assert brute_force(small, connected=True) == brute_force(problem, connected=True)


def test_a_chain_becomes_one_node() -> None:
    small, place = contract(Problem(5, {(n, n + 1): False for n in range(4)}))
    assert (small.size, small.edges, place) == (1, {}, [0] * 5)


def tangle(size: int, seed: int) -> Problem:
    """A graph in which joining greedily does not tell the fewest."""
    draw = random.Random(seed)
    edges = {}
    for node in range(1, size):
        for source in {draw.randrange(max(0, node - 12), node) for _ in range(draw.choice([1, 1, 1, 2, 2]))}:
            edges[source, node] = draw.random() < 0.2
    return Problem(size, edges)


def test_out_of_time_there_is_a_legal_answer_and_a_bound() -> None:
    problem = tangle(50, 0)
    found = fewest_groups(problem, 0.0)
    assert check_partition(problem, found.groups, connected=True) is None
    assert found.at_least < len(found.groups)
    better = fewest_groups(problem, 60)
    assert found.at_least < better.at_least == len(better.groups) <= len(found.groups)


@pytest.mark.parametrize(
    ("groups", "flaw"),
    [
        ([[0, 1], [2]], "not every node is in a group"),
        ([[0, 1], [1, 2], [3]], "node 1 is in two groups"),
        ([[0, 3], [1], [2]], "groups wait for each other"),
        ([[0], [1, 2], [3]], "the group of node 1 does not hang together"),
        ([[0, 1], [2, 3]], "nodes 2 and 3 are not apart"),
        ([[0, 1], [2], [3]], None),
    ],
)
def test_flaws_are_seen(groups: list[list[int]], flaw: str | None) -> None:
    diamond = Problem(4, {(0, 1): False, (0, 2): False, (1, 3): False, (2, 3): True})
    assert check_partition(diamond, groups, connected=True) == flaw


def test_a_node_that_must_be_alone_is_seen_in_company() -> None:
    chain = Problem(3, {(0, 1): False, (1, 2): False}, frozenset({1}))
    assert check_partition(chain, [[0, 1], [2]], connected=True) == "node 1 is not alone"
    assert fewest_groups(chain, 10) == fewest_levels(chain) == Partition(((0,), (1,), (2,)), 3)
