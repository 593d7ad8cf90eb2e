"""How few kernels would do: as segmented, and the fewest that the rules allow, with a segmentation as proof."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import product
from time import monotonic
from typing import Literal, get_args

from segscope.errors import SegscopeError
from segscope.explain.proof import proof
from segscope.explain.work import Rules, Work
from segscope.graph import successors, topological_order
from segscope.graph.partition import fewest_levels
from segscope.graph.solve import fewest_groups
from segscope.model import SegmentedFusion
from segscope.model.base import Model


def rules_of(fusion: SegmentedFusion) -> Rules:
    """Return the rules that the nvFuser had which cut a fusion, as far as its groups tell."""
    return "resize" if "resize" in fusion.schedulers else "boundary"


class Bound(Model):
    """The fewest kernel groups under one set of rules: a bound by structure, which no scheduler was asked about."""

    rules: Rules
    """What a kernel may hold."""
    connected: bool
    """Whether each group hangs together over values that it computes, those that every kernel may repeat not counted;
    else it may be anything. nvFuser joins some groups over inputs or casts that they share: it may have fewer groups
    than hang together so, and never fewer than the bound of any."""
    at_least: int
    """No segmentation by these rules, with such groups, has fewer kernel groups."""
    method: Literal["path", "solver", "greedy"]
    """How the proof was found: by a longest path or by a search, or, where the solver is not installed, by joining what
    can be joined in order, which gives few groups and not always the fewest."""
    proof: SegmentedFusion
    """A segmentation of the same expressions that keeps the rules."""

    @property
    def fewest(self) -> int:
        """Kernel groups of the proof."""
        return self.proof.count()

    @property
    def exact(self) -> bool:
        """Whether no segmentation has fewer than the proof."""
        return self.fewest == self.at_least


class Headroom(Model):
    """Kernel groups of a fusion, and how few there might be."""

    kernel_groups: int
    """As segmented."""
    bounds: tuple[Bound, ...]
    """For each set of rules two: groups that hang together, then any."""

    def bound(self, rules: Rules, *, connected: bool) -> Bound:
        """Return one of the bounds. Raises SegscopeError where it was not asked for."""
        for bound in self.bounds:
            if (bound.rules, bound.connected) == (rules, connected):
                return bound
        raise SegscopeError(f"headroom was not asked for under the rules {rules!r}")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import headroom_mimebundle

        return headroom_mimebundle(self)


def headroom(fusion: SegmentedFusion, rules: Sequence[Rules] = get_args(Rules), *, seconds: float = 10.0) -> Headroom:
    """Return the fewest kernel groups that a legal, acyclic segmentation of the same expressions can have.

    Each set of ``rules`` (``segscope.explain.work.Rules``) gives two bounds: groups that hang together, and any.
    Metadata operations and up-casts may be repeated in every kernel that reads them and cost nothing. Groups of other
    schedulers than pointwise, resize and transpose stay as they are, and so do kernels of metadata operations alone.

    The first needs a search, by OR-Tools (``pip install segscope[solver]``). After ``seconds`` in all it ends, and
    ``at_least`` and the proof may differ by a gap. Without OR-Tools the proof is found greedily.

    Raises SegscopeError for rules that are not known, for a time that is none, for a fusion in which what stays
    together waits for itself, and for one with a statement of which it is not known what it defines.
    """
    if not seconds >= 0:
        raise SegscopeError(f"time limit {seconds:g} s: must not be negative")
    for name in rules:
        if name not in get_args(Rules):
            raise SegscopeError(f"unknown rules {name!r}; valid: {', '.join(get_args(Rules))}")
    if lost := [expr.id for expr in fusion.exprs if expr.tensor_inputs and not expr.outputs]:
        raise SegscopeError(f"fusion {fusion.index}: what expression {lost[0]} defines is not known, so no headroom is")
    end = monotonic() + seconds
    works = [Work(fusion, name) for name in rules]
    for work in works:
        if topological_order(successors(work.problem.size, work.problem.edges)).cycle:
            raise SegscopeError(f"fusion {fusion.index}: expressions wait for each other: see the rule cycle")
    bounds = [_bound(work, connected, max(0.0, end - monotonic())) for work, connected in product(works, (True, False))]
    return Headroom(kernel_groups=fusion.count(), bounds=tuple(bounds))


def _bound(work: Work, connected: bool, seconds: float) -> Bound:
    method: Literal["path", "solver", "greedy"]
    if not connected:
        found, method = fewest_levels(work.problem), "path"
    else:
        searches = find_spec("ortools") is not None
        found, method = fewest_groups(work.problem, seconds, search=searches), "solver" if searches else "greedy"
    return Bound(
        rules=work.rules,
        connected=connected,
        at_least=found.at_least,
        method=method,
        proof=proof(work, found.groups),
    )
