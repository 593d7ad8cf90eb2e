"""The segmenter's own words, and what the passes did before: on the real logs of July 2024 and of today."""

from collections import Counter
from collections.abc import Callable

import pytest

from segscope.dump import parse
from segscope.errors import NoDumpError
from segscope.model import Capture, SegmenterLog
from tests.conftest import FIXTURES

JULY = "null_0.2.8_llama2-13b_log_forward"
TODAY = "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_log_forward"


def log_of(capture: Capture) -> SegmenterLog:
    assert capture.fusion.log is not None
    return capture.fusion.log


def test_july_2024_tried_199_times(fixture_capture: Callable[[str], Capture]) -> None:
    log = log_of(fixture_capture(JULY))
    assert len(log.trials) == 199
    text = (FIXTURES / f"{JULY}.txt").read_text()
    assert len(log.trials) == text.count("**Segmenter** Considering fusion:")
    assert log.whole is not None
    assert (log.has_hints, log.whole.accepted) == (False, None)
    assert [refusal.scheduler for refusal in log.whole.refusals][:3] == ["expr_eval", "no_op", "matmul"]
    accepted = sum(trial.accepted is not None for trial in log.trials)
    assert accepted == text.count("***Accepted*** as:")
    refused = len(log.whole.refusals) + sum(len(trial.refusals) for trial in log.trials)
    assert refused == text[: text.index("fusion segments:")].count("***rejected***")  # later ones are of no trial


def test_the_two_early_merges_of_july_2024(fixture_capture: Callable[[str], Capture]) -> None:
    """Trial 5 accepts Q's squeeze with its up-cast, trial 12 K's; both are made later."""
    fusion = fixture_capture(JULY).fusion
    log = log_of(fixture_capture(JULY))
    kinds = {expr.id: expr.kind for expr in fusion.exprs}
    for number, outputs in ((5, ("T8", "T21")), (12, ("T9", "T39")), (18, ("T8", "T21")), (25, ("T9", "T39"))):
        trial = log.trials[number - 1]
        assert trial.outputs == outputs
        assert trial.accepted == "pointwise"
        assert [kinds[i] for i in trial.expr_ids] == ["squeeze", "cast"]


def test_a_refusal_has_its_reason(fixture_capture: Callable[[str], Capture]) -> None:
    log = log_of(fixture_capture(JULY))
    assert log.whole is not None
    by_scheduler = {refusal.scheduler: refusal for refusal in log.whole.refusals}
    assert by_scheduler["pointwise"].reason == "First input of SliceOp must be fusion input."
    assert by_scheduler["pointwise"].category == "boundary"
    assert by_scheduler["reduction"].category == "nothing to do"


@pytest.mark.parametrize("name", [JULY, TODAY])
def test_every_reason_is_known(name: str, fixture_capture: Callable[[str], Capture]) -> None:
    log = log_of(fixture_capture(name))
    assert "other" not in {refusal.category for trial in log.trials for refusal in trial.refusals}


def test_every_trial_is_of_known_expressions(fixture_capture: Callable[[str], Capture]) -> None:
    for trial in log_of(fixture_capture(JULY)).trials:
        assert len(trial.expr_ids) == len(set(trial.outputs))


def test_today_is_hinted_and_tries_114_times(fixture_capture: Callable[[str], Capture]) -> None:
    log = log_of(fixture_capture(TODAY))
    assert (log.has_hints, log.whole, len(log.trials)) == (True, None, 114)
    assert Counter(trial.accepted for trial in log.trials) == {None: 43, "pointwise": 38, "expr_eval": 33}


def test_the_passes_that_changed_the_fusion(fixture_capture: Callable[[str], Capture]) -> None:
    changes = fixture_capture(TODAY).fusion.passes
    assert [change.name for change in changes] == ["MovePadPass", "MarkAliasesPreparePass"]
    pads, aliases = changes
    removed, added = (Counter(statement.kind for statement in side) for side in (pads.removed, pads.added))
    assert (removed["cat"], added["cat"], added["binary"] - removed["binary"]) == (2, 0, 2)
    assert aliases.segment_sets == ("T7", "T46", "T48")
    assert [s.outputs for s in aliases.added if s.kind == "segmenter_set"] == [("T69",), ("T70",), ("T71",)]


def test_without_a_log_there_is_none(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    assert (fusion.log, fusion.passes) == (None, ())


def test_a_reason_of_several_lines() -> None:
    text = (FIXTURES / f"{TODAY}.txt").read_text()
    told = "Expected the expression to be resharding: T1_g_float[iS0{2}]"
    reason = f"Scheduler _communication_ ***rejected*** because : {told}"
    cut = text.index("Scheduler _communication_")
    capture = parse(f"{text[:cut]}{reason}\n   = neg( T0_g_float[iS1{{2}}] )\n{text[text.index(chr(10), cut) + 1 :]}")
    found = [
        r.reason for t in log_of(capture).trials for r in t.refusals if "T1_g_float[iS0{2}]\n   = neg(" in r.reason
    ]
    assert len(found) == 1


@pytest.mark.parametrize(
    ("line", "kind", "group"),
    [
        ("RuntimeError: Error in graph, is not a DAG.", "not a DAG", None),
        ("unreachable, original graph not a DAG", "not a DAG", None),
        ("RuntimeError: Error from segmentation group 3: no luck", "group failed", 3),
    ],
)
def test_errors_are_recognised(line: str, kind: str, group: int | None) -> None:
    text = (FIXTURES / "eras" / "E5.txt").read_text()
    capture = parse(f"{text}{line}\n")
    assert [(e.kind, e.group_id, e.text) for e in capture.errors] == [(kind, group, line)]
    assert capture.errors[0].line == text.count("\n") + 1
    assert capture.complete
    with pytest.raises(NoDumpError, match=r"nvFuser failed at line 1 \(.*no segments follow such an error"):
        parse(line)
