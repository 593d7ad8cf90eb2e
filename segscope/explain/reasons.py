"""Why each cut is there: one reason a cut, the strongest that there is evidence for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Literal, get_args

from segscope.checks.facts import facts_of, listed
from segscope.explain.blocked import Blocked, blocked
from segscope.explain.history import History, history
from segscope.explain.merge import WaysBack
from segscope.explain.rules import broken_rules
from segscope.model import Cut, Refusal, SegmentedFusion, Trial
from segscope.model.base import Model

Kind = Literal["refused", "hint", "boundary", "reduction", "reshape", "operation", "cycle", "no kernel", "legal"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""From the strongest on."""

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")


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
    * ``legal``: nothing in the structure is against it, and the log, where there is one, has no such trial."""
    text: str
    """The evidence, in one line."""
    trial: int | None = None
    """Position in ``fusion.log.trials`` of the trial that was refused."""
    refusals: tuple[Refusal, ...] = ()
    """What the schedulers said of it, addresses taken out."""
    path: tuple[int, ...] = ()
    """For a cycle the group indices of the second way from source to target."""


class Explanation(Model):
    """Why a fusion is cut as it is."""

    fusion: int
    """Index of the fusion."""
    reasons: tuple[Reason, ...]
    """One for each cut, in the order of the cuts."""
    history: History | None
    """The merges, where the segmenter's log was printed."""
    blocked: tuple[Blocked, ...]
    """The merges that would close a cycle, and the earlier merges that made them impossible; empty without a log."""

    @property
    def counts(self) -> dict[Kind, int]:
        """How many cuts each kind of reason has, from the strongest on."""
        found = [reason.kind for reason in self.reasons]
        return {kind: found.count(kind) for kind in KINDS if kind in found}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import explanation_mimebundle

        return explanation_mimebundle(self)


def explain(fusion: SegmentedFusion) -> Explanation:
    """Give each cut the strongest reason that there is evidence for, in the order of ``KINDS``.

    The segmenter's words come from its log (``NVFUSER_DUMP=segmented_fusion,segmenter_logging``): a trial of what the
    two groups hold together, or, where that was not tried, the largest trial of parts of both over the cut.
    """
    grown = history(fusion)
    search = _Search(fusion)
    return Explanation(
        fusion=fusion.index,
        reasons=tuple(map(search.reason, fusion.cuts)),
        history=grown,
        blocked=blocked(fusion, grown) if grown else (),
    )


class _Search:
    """What there is to be known of a fusion, looked through for each of its cuts."""

    def __init__(self, fusion: SegmentedFusion) -> None:
        self._fusion = fusion
        self._facts = facts_of(fusion)
        self._dependencies = self._facts.dependencies()
        self._ways = WaysBack(fusion, self._dependencies)
        scalars = {expr.id for expr in fusion.exprs if expr.is_scalar}
        trials = enumerate(fusion.log.trials) if fusion.log else ()
        self._refused = [
            (position, frozenset(trial.expr_ids) - scalars, trial)
            for position, trial in trials
            if trial.refusals and not trial.accepted
        ]

    def reason(self, cut: Cut) -> Reason:
        """Return the strongest reason for a cut."""
        facts, (source, target, values) = self._facts, cut
        common = {"source": source, "target": target, "values": values}
        if found := self._trial(cut):
            position, trial, whole = found
            refusals = tuple(r.model_copy(update={"reason": _ADDRESS.sub("0x..", r.reason)}) for r in trial.refusals)
            what = "both as one" if whole else f"parts of both ({', '.join(_tensors(trial.outputs))})"
            text = f"trial {position + 1} offered {what}: {in_words(refusals)}"
            return Reason(**common, kind="refused", text=text, trial=position, refusals=refusals)
        if broken := next(broken_rules(facts, source, target, values), None):
            return Reason(**common, kind=broken.rule, text=broken.text)
        if path := self._ways.shortest((source, target)):
            labels = [facts.label(index) for index in path]
            steps = zip(pairwise(path), labels[1:], strict=True)
            way = "".join(f" -({self._dependencies[step][0]})-> {label}" for step, label in steps)
            text = f"as one, they would wait for {listed(labels[1:-1])} and the other way round: {labels[0]}{way}"
            return Reason(**common, kind="cycle", text=text, path=path)
        groups = [self._fusion.groups[index] for index in (source, target)]
        if idle := [group.label for group in groups if not self._fusion.launches_kernel(group)]:
            verb = "launches" if len(idle) == 1 else "launch"
            return Reason(**common, kind="no kernel", text=f"{listed(idle)} {verb} no kernel: the cut costs none")
        logged = "the log has no such trial" if self._fusion.log else "no log tells whether it was tried"
        return Reason(**common, kind="legal", text=f"legal by structure; {logged}")

    def _trial(self, cut: Cut) -> tuple[int, Trial, bool] | None:
        """Return the last trial that was refused of what two groups hold, or else the largest of parts of both.

        With its position, and whether it is of all they hold.
        """
        facts = self._facts
        both = {e.id for index in (cut.source, cut.target) for e in facts.exprs[index] if not e.is_scalar}
        makers = {facts.defined[cut.source][value].id for value in cut.values if value in facts.defined[cut.source]}
        readers = {expr.id for value in cut.values for expr in facts.readers[cut.target].get(value, ())}
        best: tuple[int, Trial, bool] | None = None
        most = 0
        for position, ids, trial in self._refused:
            if len(ids) >= most and ids <= both and ids & makers - readers and ids & readers - makers:
                best, most = (position, trial, ids == both), len(ids)
        return best


def in_words(refusals: Sequence[Refusal]) -> str:
    """Return who refused and why, the same words once; what is not about the group is left out."""
    telling = [r for r in refusals if r.category != "nothing to do"] or list(refusals)
    said: dict[str, list[str]] = {}
    for refusal in telling:
        said.setdefault(" ".join(refusal.reason.split()), []).append(refusal.scheduler)
    return "; ".join(f"{listed(names)} refused: {reason}" for reason, names in said.items())


def _tensors(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("T")]
