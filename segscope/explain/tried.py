"""What the segmenter's log says of groups as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from segscope.checks.facts import listed
from segscope.model import Refusal, SegmentedFusion, Trial

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")


class Tried(NamedTuple):
    """A trial, and the expressions on tensors that it offered."""

    position: int
    """In ``fusion.log.trials``, from 0."""
    ids: frozenset[int]
    trial: Trial

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What the schedulers said, addresses taken out."""
        return tuple(r.model_copy(update={"reason": _ADDRESS.sub("0x..", r.reason)}) for r in self.trial.refusals)


def trials_of(fusion: SegmentedFusion) -> list[Tried]:
    """Return the trials in the log that were answered; none where it was not printed.

    A trial over a hint gets no answer: nvFuser asks no scheduler.
    """
    scalars = {expr.id for expr in fusion.exprs if expr.is_scalar}
    trials = fusion.log.trials if fusion.log else ()
    answered = ((at, trial) for at, trial in enumerate(trials) if trial.accepted or trial.refusals)
    return [Tried(at, frozenset(trial.expr_ids) - scalars, trial) for at, trial in answered]


def last_of_all(tried: Iterable[Tried], ids: frozenset[int]) -> Tried | None:
    """Return the last trial of exactly these expressions."""
    return max((one for one in tried if one.ids == ids), key=lambda one: one.position, default=None)


def in_words(refusals: Sequence[Refusal]) -> str:
    """Return who refused and why, the same words once; what is not about the group is left out."""
    telling = [r for r in refusals if r.category != "nothing to do"] or list(refusals)
    said: dict[str, list[str]] = {}
    for refusal in telling:
        said.setdefault(" ".join(refusal.reason.split()), []).append(refusal.scheduler)
    return "; ".join(f"{listed(names)} refused: {reason}" for reason, names in said.items())
