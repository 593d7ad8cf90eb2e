"""Why schedulers refused, as the segmenter's log has it."""

from __future__ import annotations

from collections import Counter
from typing import Final

from segscope.asserts.checked import Checked, fusion_of
from segscope.asserts.message import fail
from segscope.asserts.selection import select
from segscope.checks.facts import listed
from segscope.errors import SegscopeError
from segscope.model import Refusal, SegmentedFusion, SegmenterLog, Trial
from segscope.several import several
from segscope.vocabulary import check_scheduler

__tracebackhide__ = True

_MOST_REASONS: Final = 8


def assert_refused(
    fusion: Checked, reason: str, *, scheduler: str | None = None, trying: str | tuple[str, ...] = ()
) -> None:
    """Assert that the segmenter's log has a refusal: ``assert_refused(fusion, "PadOp must be fusion input")``.

    Args:
        fusion: a fusion, or a capture of one, with its log: ``NVFUSER_DUMP=segmented_fusion,segmenter_logging``.
        reason: a part of the reason as printed, or its category (``Refusal.category``).
        scheduler: who refused; any scheduler if None.
        trying: one selector or several, each of which selects an expression of what was tried as one group, such as
            ``("cat", "T15")``; any trial if empty, the whole fusion's too.

    Raises:
        AssertionError: nobody refused so; the reasons that are there are listed.
        SegscopeError: there is no log, no such scheduler, or the reason is empty.
    """
    found = fusion_of(fusion)
    if not reason.strip():
        raise SegscopeError("assert_refused: name a part of the reason, as in 'must be fusion input', or its category")
    if found.log is None:
        raise SegscopeError(
            "assert_refused: there is no log of the segmenter; dump it: NVFUSER_DUMP=segmented_fusion,segmenter_logging"
        )
    if scheduler is not None:
        check_scheduler(scheduler, found.schedulers)
    selectors = several(trying)
    refusals = [
        refusal
        for trial in _trials(found, found.log, selectors)
        for refusal in trial.refusals
        if scheduler in (None, refusal.scheduler)
    ]
    if any(reason in refusal.reason or reason == refusal.category for refusal in refusals):
        return
    by = f" by {scheduler}" if scheduler else ""
    of = f" of what holds {listed(list(selectors))}" if selectors else ""
    reasons = _reasons(refusals)
    fail(f"a refusal{by}{of} for {reason!r}", "other reasons" if reasons else "no refusal", found, *reasons)


def _trials(fusion: SegmentedFusion, log: SegmenterLog, selectors: tuple[str, ...]) -> list[Trial]:
    wanted = [frozenset().union(*(item.exprs for item in select(fusion, word).items)) for word in selectors]
    trials = [*([log.whole] if log.whole and not wanted else []), *log.trials]
    return [trial for trial in trials if all(exprs.intersection(trial.expr_ids) for exprs in wanted)]


def _reasons(refusals: list[Refusal]) -> list[str]:
    """Return the reasons, the most frequent first; those that a scheduler has nothing to do come last."""
    counts = Counter((r.category == "nothing to do", r.scheduler, " ".join(r.reason.split())) for r in refusals)
    ordered = sorted(counts, key=lambda reason: (reason[0], -counts[reason]))
    lines = [f"  {counts[reason]} times {reason[1]}: {reason[2]}" for reason in ordered[:_MOST_REASONS]]
    if (more := len(counts) - _MOST_REASONS) > 0:
        lines.append(f"  ... {more} more reasons")
    return lines
