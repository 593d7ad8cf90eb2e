"""nvFuser itself, asked on the null device or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from segscope.errors import SegscopeError
from segscope.explain.tried import in_words
from segscope.explain.verify import Answer as Verified
from segscope.explain.verify import Question, verify
from segscope.segmenter.oracle import Accepted, Answer, Candidate, Refused, Unknown
from segscope.segmenter.oracles.rules import Rules
from segscope.segmenter.oracles.rules.layout import VIEWS
from segscope.segmenter.oracles.stand_in import StandIns
from segscope.segmenter.versions import Version
from segscope.segmenter.whole import Whole


class Real:
    """Rebuilds each set as a fusion of its own and asks nvFuser's schedulers (``segscope.explain.verify``).

    A process of nvFuser takes seconds to start, so sets are asked about together: what is new is guessed by rules, and
    looked up when the run has ended (``settle``). What nvFuser cannot be asked is unknown, except for views alone,
    whose layouts its older Python APIs cannot give: there the rules answer.

    Raises SegscopeError where the boundary rule is to be left out.
    """

    def __init__(
        self,
        whole: Whole,
        version: Version,
        *,
        boundary: bool = True,
        toolchain: str | None = None,
        device: str = "auto",
        card: str = "h200",
    ) -> None:
        """``toolchain`` is by default the one of the version; ``device`` and ``card`` are as for ``capture_rope``."""
        if not boundary:
            raise SegscopeError(
                "nvFuser is asked with its defaults, which keep the boundary rule; use the oracle rules"
            )
        self._whole = whole
        self._rules = Rules(whole, version)
        chain = toolchain or f"nvfuser-{version.name.removeprefix('nvfuser-')}"
        self._stand_ins = StandIns(whole)
        self._verify = partial(verify, self._stand_ins.fusion, toolchain=chain, device=device, card=card)
        self._answers: dict[Candidate, Answer] = {}
        self._waiting: dict[Candidate, None] = {}

    def answer(self, candidate: Candidate) -> Answer:
        """Say what nvFuser said; guess by the rules where it was not asked yet."""
        known = self._answers.get(candidate)
        if known is None:
            self._waiting[candidate] = None
            return self._rules.answer(candidate)
        return known

    def settle(self) -> bool:
        """Ask about all that was guessed. Raises SegscopeError where nvFuser cannot be asked at all."""
        waiting, self._waiting = list(self._waiting), {}
        told = self._verify([self._question(candidate) for candidate in waiting])
        for candidate, verified in zip(waiting, told, strict=True):
            self._answers[candidate] = self._read(candidate, verified)
        return bool(waiting)

    def _question(self, candidate: Candidate) -> Question:
        made = set(self._whole.names(candidate.nodes))
        return Question(
            expr_ids=self._stand_ins.ids(candidate),
            outputs=tuple(name for name in candidate.outputs if name in made),
        )

    def _read(self, candidate: Candidate, verified: Verified) -> Answer:
        if verified.accepted is not None:
            return Accepted(scheduler=verified.accepted)
        if verified.problem is None:
            return Refused(reason=in_words(verified.refusals))
        if all(self._whole.exprs[node].kind in VIEWS for node in candidate.nodes):
            return self._rules.answer(candidate)
        return Unknown(why=verified.problem)


def real(*, toolchain: str | None = None, device: str = "auto", card: str = "h200") -> Callable[..., Real]:
    """Return the oracle for ``simulate`` that asks a certain toolchain."""
    return partial(Real, toolchain=toolchain, device=device, card=card)
