"""Why each cut is there: one reason a cut, the strongest that there is evidence for."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, Literal, get_args

from segscope.checks.facts import facts_of, listed, tensors_of, way
from segscope.explain.blocked import Blocked, blocked
from segscope.explain.counterfactual import Counterfactual, counterfactuals
from segscope.explain.history import History, history
from segscope.explain.merge import WaysBack
from segscope.explain.rules import broken_rules
from segscope.explain.tried import Tried, in_words, last_of_all, trials_of
from segscope.model import Cut, Refusal, SegmentedFusion
from segscope.model.base import Model

Kind = Literal["refused", "hint", "boundary", "reduction", "reshape", "operation", "cycle", "no kernel", "legal"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""From the strongest on."""


class Reason(Model):
    """Why one cut is there."""

    source: int
    """Index of the producing group."""
    target: int
    """Index of the consuming group."""
    values: tuple[str, ...]
    """Names of the values that cross."""
    kind: Kind
    """* ``refused``: the segmenter tried it, and every scheduler refused;
    * ``hint``, ``boundary``, ``reduction``, ``reshape``, ``operation``: see ``Broken.rule``;
    * ``cycle``: as one, the two would wait for other groups that wait for them;
    * ``no kernel``: one of them launches no kernel, so the cut costs none;
    * ``legal``: no rule that segscope knows is against it, and in the log, where there is one, no refusal."""
    text: str
    """The evidence, in one line."""
    trial: int | None = None
    """Position in ``fusion.log.trials`` of the trial that the text quotes."""
    refusals: tuple[Refusal, ...] = ()
    """What the schedulers said of it, addresses taken out."""
    path: tuple[int, ...] = ()
    """For a cycle the group indices of the second way from source to target."""


class Explanation(Model):
    """Why a fusion is cut as it is."""

    fusion: int
    """Index of the fusion."""
    labels: tuple[str, ...]
    """Labels of its groups, by index."""
    reasons: tuple[Reason, ...]
    """One for each cut, in the order of the cuts."""
    history: History | None
    """The merges, where the segmenter's log was printed."""
    blocked: tuple[Blocked, ...]
    """The merges that would close a cycle, and the earlier merges that made them impossible; empty without a log."""
    counterfactuals: tuple[Counterfactual, ...] = ()
    """What becomes of the fusion when these earlier merges are refused: each alone, then all."""

    @property
    def counts(self) -> dict[Kind, int]:
        """How many cuts each kind of reason has, from the strongest on."""
        found = [reason.kind for reason in self.reasons]
        return {kind: found.count(kind) for kind in KINDS if kind in found}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import explanation_mimebundle

        return explanation_mimebundle(self)


def explain(fusion: SegmentedFusion) -> Explanation:
    """Give each cut the strongest reason that there is evidence for, in the order of ``Reason.kind``.

    The segmenter's words come from its log (``NVFUSER_DUMP=segmented_fusion,segmenter_logging``): a trial of what the
    two groups hold together, or, where that was not tried, the largest trial of parts of both over the cut.
    """
    grown = history(fusion)
    search = _Search(fusion)
    stuck = blocked(fusion, grown) if grown else ()
    return Explanation(
        fusion=fusion.index,
        labels=tuple(group.label for group in fusion.groups),
        reasons=tuple(map(search.reason, fusion.cuts)),
        history=grown,
        blocked=stuck,
        counterfactuals=counterfactuals(fusion, grown, stuck) if grown else (),
    )


class _Search:
    """What there is to be known of a fusion, looked through for each of its cuts."""

    def __init__(self, fusion: SegmentedFusion) -> None:
        self._fusion = fusion
        self._facts = facts_of(fusion)
        self._dependencies = self._facts.dependencies()
        self._ways = WaysBack(fusion, self._dependencies)
        self._tried = trials_of(fusion)

    def reason(self, cut: Cut) -> Reason:
        """Return the strongest reason for a cut."""
        facts, (source, target, values) = self._facts, cut
        common = {"source": source, "target": target, "values": values}
        both = frozenset(e.id for index in (source, target) for e in facts.exprs[index] if not e.is_scalar)
        whole = last_of_all(self._tried, both)
        told = whole or self._of_parts(cut, both)
        if told and not told.trial.accepted:
            what = "both as one" if whole else f"parts of both ({', '.join(tensors_of(told.trial.outputs))})"
            text = f"trial {told.position + 1} offered {what}: {in_words(told.refusals)}"
            return Reason(**common, kind="refused", text=text, trial=told.position, refusals=told.refusals)
        if broken := next(broken_rules(facts, source, target, values), None):
            return Reason(**common, kind=broken.rule, text=broken.text)
        if back := self._dependencies.get((target, source)):
            both_ways = way(self._fusion, (source, target, source), (values[0], back[0]))
            return Reason(**common, kind="cycle", text=f"they wait for each other as it is: {both_ways}")
        if path := self._ways.shortest((source, target)):
            over = [self._dependencies[step][0] for step in pairwise(path)]
            others = listed([facts.label(index) for index in path[1:-1]])
            text = f"as one, they would wait for {others} and the other way round: {way(self._fusion, path, over)}"
            return Reason(**common, kind="cycle", text=text, path=path)
        groups = [self._fusion.groups[index] for index in (source, target)]
        if idle := [group.label for group in groups if not self._fusion.launches_kernel(group)]:
            verb = "launches" if len(idle) == 1 else "launch"
            return Reason(**common, kind="no kernel", text=f"{listed(idle)} {verb} no kernel: the cut costs none")
        if whole:
            text = (
                f"trial {whole.position + 1} offered both as one, {whole.trial.accepted} accepted, and it was not made"
            )
            return Reason(**common, kind="legal", text=text, trial=whole.position)
        logged = "the log has no such trial" if self._fusion.log else "no log tells whether it was tried"
        return Reason(**common, kind="legal", text=f"no rule that segscope knows is against it; {logged}")

    def _of_parts(self, cut: Cut, both: frozenset[int]) -> Tried | None:
        """Return the largest trial that was refused of parts of two groups, over the cut between them."""
        facts = self._facts
        makers = {facts.defined[cut.source][value].id for value in cut.values if value in facts.defined[cut.source]}
        readers = {expr.id for value in cut.values for expr in facts.readers[cut.target].get(value, ())}
        found = (
            tried
            for tried in self._tried
            if not tried.trial.accepted
            and tried.ids <= both
            and tried.ids & makers - readers
            and tried.ids & readers - makers
        )
        return max(found, key=lambda tried: (len(tried.ids), tried.position), default=None)
