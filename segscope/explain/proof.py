"""Groups of work back to a segmented fusion, which can be counted, checked and drawn like any other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from segscope.errors import SegscopeError
from segscope.explain.work import Work
from segscope.graph import successors, topological_order
from segscope.graph.parts import parts
from segscope.model import Edge, Expr, Group, SegmentedFusion


def proof(work: Work, groups: Iterable[Iterable[int]]) -> SegmentedFusion:
    """Return the fusion with these groups of ``work.nodes`` as its kernel groups.

    Each repeats the free expressions that it reads. What a kernel must find in memory, or the fusion returns, of the
    other free expressions goes into groups that launch no kernel, and with it what no kernel reads. Groups have no ids,
    and come in an order in which they can run; the scheduler of a new group is the one that has the rules. Raises
    SegscopeError where there is no such order, as in a damaged dump.
    """
    fusion = work.fusion
    kernels = [work.with_free(tuple(i for node in group for i in work.nodes[node])) for group in groups]
    schedulers = [_scheduler(work, ids) for ids in kernels]
    views = _views(work, kernels)
    members = [*kernels, *views]
    schedulers += ["no_op" if "no_op" in fusion.schedulers else "expr_eval"] * len(views)
    members = _with_left_scalars(work, members)
    homes = _homes(work, members, len(kernels))
    reads = [_reads(work, ids) for ids in members]
    arrows = [(homes[name], at) for at, names in enumerate(reads) for name in names if name in homes]
    order, cycle = topological_order(successors(len(members), arrows))
    if cycle:
        raise SegscopeError(f"fusion {fusion.index}: groups of the proof wait for each other: is the dump damaged?")
    place = {old: new for new, old in enumerate(order)}
    wanted = {name for names in reads for name in names} | set(fusion.outputs)
    return fusion.model_copy(
        update={
            "groups": tuple(
                Group(
                    index=place[old],
                    id=None,
                    scheduler=schedulers[old],
                    inputs=tuple(reads[old]),
                    outputs=tuple(name for name, home in homes.items() if home == old and name in wanted),
                    expr_ids=members[old],
                )
                for old in order
            ),
            "edges": tuple(
                Edge(source=place[homes[name]], target=place[old], value=name)
                for old in order
                for name in reads[old]
                if name in homes
            ),
            "log": None,
        }
    )


def _scheduler(work: Work, ids: Sequence[int]) -> str:
    """Return the scheduler that must take a kernel group: its own where it stays as it is."""
    if own := next((work.fixed[i] for i in ids if i in work.fixed), None):
        return own
    resizes = any(expr.kind in ("slice", "pad") and work.fusion.resizes(expr) for expr in work.exprs(ids))
    return "resize" if work.rules == "resize" and resizes else "pointwise"


def _views(work: Work, kernels: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the groups of free expressions outside of kernels: what hangs together between the same kernels."""
    inside = {i for ids in kernels for i in ids}
    left = [*work.fusion.outputs, *(name for ids in kernels for name in _reads(work, ids))]
    left += [name for expr in work.fusion.exprs if expr.id not in inside for name in expr.tensor_outputs]
    outside: dict[int, Expr] = {}
    while left:
        maker = work.made_by.get(left.pop())
        if maker and maker.id not in outside and not maker.is_scalar and work.free(maker):
            outside[maker.id] = maker
            left += maker.tensor_inputs
    members = [*kernels, *((i,) for i in outside)]
    homes = _homes(work, members, len(kernels))
    reads = [_reads(work, ids) for ids in members]
    arrows = {(homes[name], at) for at, names in enumerate(reads) for name in names if name in homes}
    graph = successors(len(members), arrows)
    level = [0] * len(members)
    for node in topological_order(graph).nodes:
        for target in graph[node]:
            level[target] = max(level[target], level[node] + (node < len(kernels) <= target))
    near = [(a, b) for a, b in arrows if min(a, b) >= len(kernels) and level[a] == level[b]]
    together = parts(len(members), near)[len(kernels) :]
    return [work.with_scalars(i for node in part for i in members[node]) for part in together]


def _with_left_scalars(work: Work, members: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Add the scalars that nothing reads to the first group that has something of the group where they were."""
    seen = {i for ids in members for i in ids}
    added = [list(ids) for ids in members]
    first = {i: at for at, ids in reversed(list(enumerate(members))) for i in ids}
    for group in work.fusion.groups:
        left = [i for i in group.expr_ids if i not in seen]
        if left:
            seen.update(left)
            added[min((first[i] for i in group.expr_ids if i in first), default=0)] += left
    return [work.with_scalars(ids) for ids in added]


def _homes(work: Work, members: Sequence[Sequence[int]], kernels: int) -> dict[str, int]:
    """Return for each tensor the group that writes it: the kernel that computes it, else the group of free ones."""
    homes: dict[str, int] = {}
    for at, ids in enumerate(members):
        for expr in work.exprs(ids):
            if at >= kernels or not work.free(expr):
                homes |= dict.fromkeys(expr.tensor_outputs, at)
    return homes


def _reads(work: Work, ids: Iterable[int]) -> list[str]:
    exprs = work.exprs(ids)
    made = {name for expr in exprs for name in expr.outputs}
    return [name for name in dict.fromkeys(name for expr in exprs for name in expr.inputs) if name not in made]
