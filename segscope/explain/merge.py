"""Whether groups may become one, and what they would take along or break."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise, permutations

from segscope.checks.facts import facts_of
from segscope.errors import SegscopeError
from segscope.explain.rules import Broken, broken_rules
from segscope.explain.tried import last_of_all, trials_of
from segscope.graph import shortest_path, successors
from segscope.graph.parts import parts
from segscope.graph.quotient import between, quotient
from segscope.model import Refusal, SegmentedFusion
from segscope.model.base import Model


class MergeAnswer(Model):
    """What would become of groups as one."""

    groups: tuple[int, ...]
    """Their indices, ascending."""
    path: tuple[int, ...]
    """Group indices: where the merge would close a cycle, a shortest path that leaves the groups and comes back."""
    values: tuple[str, ...]
    """A value for each step of the path."""
    along: tuple[int, ...]
    """The groups that would have to come along for there to be no cycle: all on such paths, ascending."""
    broken: tuple[Broken, ...]
    """What the merged group, without those, would break."""
    connected: bool
    """Whether the groups hang together over what they compute; nvFuser joins some over shared inputs."""
    trial: int | None
    """Position in ``fusion.log.trials`` of the last trial of exactly these groups; None where there is none."""
    accepted: str | None
    """The scheduler that accepted that trial."""
    refusals: tuple[Refusal, ...]
    """What the schedulers said in that trial."""

    @property
    def is_legal(self) -> bool:
        """Whether it closes no cycle, breaks no rule that is known, and was not refused; a scheduler may refuse it."""
        return not self.path and not self.broken and (self.trial is None or self.accepted is not None)


def merge(fusion: SegmentedFusion, *groups: int) -> MergeAnswer:
    """Say what would become of two or more groups (by index) as one.

    Dependencies are those of the rule ``cycle``: tensors, and scalars that one group alone computes.
    Raises SegscopeError for fewer than two groups, and for one that is not there.
    """
    members = sorted(set(groups))
    if len(members) < 2:
        raise SegscopeError("name at least two groups to merge")
    for index in members:
        if not 0 <= index < len(fusion.groups):
            raise SegscopeError(f"no group at position {index}; there are 0 to {len(fusion.groups) - 1}")
    facts = facts_of(fusion)
    dependencies = facts.dependencies()
    path = WaysBack(fusion, dependencies).shortest(members)
    into = [members[0] if index in members else index for index in range(len(fusion.groups))]
    graph = quotient(successors(len(into), dependencies), into)
    broken: dict[Broken, None] = {}
    for source, target in permutations(members, 2):
        if source < target or (source, target) in dependencies:
            broken |= dict.fromkeys(broken_rules(facts, source, target, dependencies.get((source, target), ())))
    ids = frozenset(e.id for index in members for e in facts.exprs[index] if not e.is_scalar)
    tried = last_of_all(trials_of(fusion), ids)
    inside = [pair for pair in dependencies if pair[0] in members and pair[1] in members]
    return MergeAnswer(
        groups=tuple(members),
        path=path,
        values=tuple(dependencies[step][0] for step in pairwise(path)),
        along=tuple(sorted(between(graph, members[0], members[0]))) if path else (),
        broken=tuple(broken),
        connected=members in parts(len(fusion.groups), inside),
        trial=tried.position if tried else None,
        accepted=tried.trial.accepted if tried else None,
        refusals=tried.refusals if tried else (),
    )


class WaysBack:
    """Paths over pairs of groups, which may be asked for again and again."""

    def __init__(self, fusion: SegmentedFusion, pairs: Collection[tuple[int, int]]) -> None:
        kernels = {group.index for group in fusion.kernel_groups}
        over_kernels = (pair for pair in pairs if kernels.issuperset(pair))
        self._graphs = [successors(len(fusion.groups), chosen) for chosen in (over_kernels, pairs)]

    def shortest(self, members: Collection[int]) -> tuple[int, ...]:
        """Return a shortest path that leaves the members and comes back to one of them.

        Of equally short ones, one over kernel groups alone. Empty where there is none: they may be one group.
        """
        paths = []
        for graph in self._graphs:
            without = [*graph]
            for node in members:
                without[node] = [target for target in graph[node] if target not in members]
            paths += [shortest_path(without, source, target) for source in members for target in members]
        return min(filter(None, paths), key=len, default=())
