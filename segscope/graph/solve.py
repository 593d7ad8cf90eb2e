"""The fewest groups that hang together, by Google's CP-SAT solver (the extra ``solver``)."""

from __future__ import annotations

from time import monotonic

from segscope.graph.adjacency import predecessors, successors
from segscope.graph.contract import contract
from segscope.graph.order import topological_order
from segscope.graph.partition import Partition, Problem, greedy_groups, in_order, levels, step
from segscope.graph.parts import parts

_SMALL = 30
"""Nodes that one worker gets through at once; several race each other, and any may win."""


def fewest_groups(problem: Problem, seconds: float, *, search: bool = True) -> Partition:
    """Return the fewest groups that hang together; after ``seconds``, the fewest found, and how few there may be.

    Parts of the graph between which there is no edge are solved one by one: first greedily, and, where that may not be
    the best, by a search, if wanted. Raises ImportError where OR-Tools is needed and not there.
    """
    end = monotonic() + seconds
    small, place = contract(problem)
    home = [0] * small.size
    at_least = 0
    problems = [(nodes, _within(small, nodes)) for nodes in parts(small.size, small.edges)]
    known = [greedy_groups(part, end - monotonic()) for _, part in problems]
    for (nodes, part), found in zip(problems, known, strict=True):
        if search and len(found.groups) > found.at_least and end > monotonic():
            found = _solved(part, found, end - monotonic())
        at_least += found.at_least
        for group in found.groups:
            for node in group:
                home[nodes[node]] = nodes[group[0]]
    return Partition(in_order(problem, [home[node] for node in place]), at_least)


def _within(problem: Problem, nodes: list[int]) -> Problem:
    number = {node: at for at, node in enumerate(nodes)}
    edges = {(number[a], number[b]): apart for (a, b), apart in problem.edges.items() if a in number}
    return Problem(len(nodes), edges, frozenset(number[node] for node in problem.alone if node in number))


def _solved(problem: Problem, known: Partition, seconds: float) -> Partition:
    """Return groups at least as few as those known. Of several answers, a small problem always gets the same one."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    size = problem.size
    before = predecessors(successors(size, problem.edges))
    first, last = levels(problem), _last_levels(problem, len(known.groups))
    level = [model.new_int_var(first[node], last[node], f"level {node}") for node in range(size)]
    depth = [model.new_int_var(0, size - 1, f"depth {node}") for node in range(size)]
    parents: list[list[cp_model.IntVar]] = [[] for _ in range(size)]
    for source, target in problem.edges:
        model.add(level[source] + step(problem, (source, target)) <= level[target])
        if not problem.joinable((source, target)):
            continue
        for parent, child in ((source, target), (target, source)):
            chosen = model.new_bool_var(f"{parent} holds {child}")
            parents[child].append(chosen)
            model.add(level[source] == level[target]).only_enforce_if(chosen)
            model.add(depth[parent] < depth[child]).only_enforce_if(chosen)
    roots = []
    for node in range(size):
        roots.append(model.new_bool_var(f"root {node}"))
        model.add_exactly_one([roots[node], *parents[node]])
        # of all orders of the groups, the one in which each comes as early as it can, which its root shows
        lone = node in problem.alone
        reasons = [model.new_bool_var(f"first {node}")]
        model.add(level[node] == -lone).only_enforce_if(reasons[0])
        for source in before[node]:
            reasons.append(model.new_bool_var(f"{node} behind {source}"))
            model.add(level[node] == level[source] + (not lone)).only_enforce_if(reasons[-1])
        model.add_bool_or([roots[node].negated(), *reasons])
    model.add(sum(roots) >= known.at_least)
    model.minimize(sum(roots))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1 if size <= _SMALL else 8
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return known
    found = [solver.value(variable) for variable in level]
    groups = _same_level(problem, found)
    return Partition(groups, max(known.at_least, round(solver.best_objective_bound)))


def _last_levels(problem: Problem, most: int) -> list[int]:
    """Return for each node the last level that leaves enough behind it, of ``most``: one for each group is enough."""
    graph = successors(problem.size, problem.edges)
    last = [most - 1] * problem.size
    for node in reversed(topological_order(graph).nodes):
        for target in graph[node]:
            last[node] = min(last[node], last[target] - step(problem, (node, target)))
    return last


def _same_level(problem: Problem, level: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return the groups that the levels make: what hangs together over edges that may be within a group."""
    inside = [edge for edge in problem.edges if problem.joinable(edge) and level[edge[0]] == level[edge[1]]]
    return tuple(map(tuple, parts(problem.size, inside)))
