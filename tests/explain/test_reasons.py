"""Why each cut is there: on the captures of July 2024 and of today, with the segmenter's log and without."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope.checks import check
from segscope.errors import SegscopeError
from segscope.explain import Explanation, Reason, explain
from segscope.model import Capture, IterDomain, Refusal, SegmentedFusion, SegmenterLog, Trial
from tests.checks.handmade import fusion as handmade
from tests.checks.handmade import tensor

JULY = "null_0.2.8_llama2-13b_bookend0_forward"
JULY_LOG = "null_0.2.8_llama2-13b_log_forward"
TODAY_LOG = "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_log_forward"
Fixture = Callable[[str], Capture]


def by_cut(fusion: SegmentedFusion, explanation: Explanation) -> dict[tuple[str, str], Reason]:
    labels = [group.label for group in fusion.groups]
    assert [(reason.source, reason.target) for reason in explanation.reasons] == [cut[:2] for cut in fusion.cuts]
    return {(labels[reason.source], labels[reason.target]): reason for reason in explanation.reasons}


def test_without_a_log_the_structure_tells(fixture_capture: Fixture) -> None:
    july = fixture_capture(JULY).fusion
    told = july.explain()
    assert told.counts == {"boundary": 14, "cycle": 2, "legal": 2}
    assert (told.history, told.blocked) == (None, ())
    reasons = by_cut(july, told)
    for cut, pad, read, computed in ((("#7", "#10"), "T16", "T15", "#7"), (("#8", "#9"), "T36", "T35", "#8")):
        assert reasons[cut].values == (read,)
        assert reasons[cut].text.startswith(f"pad {pad} in {cut[1]} reads {read}, computed by {computed}")
    assert {cut for cut, reason in reasons.items() if reason.kind == "cycle"} == {("#1", "#10"), ("#4", "#9")}
    assert reasons["#1", "#10"].path == (1, 7, 10)
    assert reasons["#1", "#10"].text.endswith("#1 -(T8)-> #7 -(T15)-> #10")


def test_the_segmenters_words_come_first(fixture_capture: Fixture) -> None:
    july = fixture_capture(JULY_LOG).fusion
    told = explain(july)
    assert told.counts == {"refused": 15, "boundary": 1, "cycle": 2}
    reasons = by_cut(july, told)
    pad = reasons["#7", "#10"]
    assert (pad.kind, pad.trial) == ("refused", 180)
    assert (
        pad.text
        == "trial 181 offered both as one: transpose and pointwise refused: First input of PadOp must be fusion input."
    )
    assert {refusal.category for refusal in pad.refusals} == {"nothing to do", "boundary"}
    both = {e.id for index in (7, 10) for e in july.exprs_of(july.groups[index]) if not e.is_scalar}
    assert july.log
    assert both <= set(july.log.trials[180].expr_ids)
    assert "Broadcasting dimension might be broadcasting to multiple sizes" in reasons["#9", "#10"].text


def test_the_early_merges_of_july_2024(fixture_capture: Fixture) -> None:
    """The third reason of NVIDIA/Fuser#2599, derived: two merges made early leave two that would close a cycle."""
    july = fixture_capture(JULY_LOG).fusion
    told = explain(july)
    assert told.history
    early = {
        (blocked.value, blocked.values): told.history.merges[blocked.early]
        for blocked in told.blocked
        if blocked.early is not None
    }
    q, k = early["T23", ("T8", "T15")], early["T40", ("T9", "T35")]
    assert (q.trial + 1, q.outputs) == (5, ("T8", "T21"))
    assert (k.trial + 1, k.outputs) == (12, ("T9", "T39"))
    assert len(early) == 2


def test_a_hint_and_a_disabled_scheduler(fixture_capture: Fixture) -> None:
    today = fixture_capture(TODAY_LOG).fusion
    reasons = by_cut(today, explain(today))
    assert {cut for cut, reason in reasons.items() if reason.kind == "hint"} == {
        ("g5", "g2"),
        ("g4", "g0"),
        ("g3", "g1"),
    }
    assert "resize refused: Disabled" in reasons["g4", "g3"].text


def test_addresses_are_taken_out_and_parts_are_called_so(fixture_capture: Fixture) -> None:
    july = fixture_capture(JULY_LOG).fusion
    assert july.log
    refusal = Refusal(scheduler="pointwise", reason="no, because of 0x7f00dead", category="other")
    trial = july.log.trials[180].model_copy(
        update={"refusals": (refusal,), "expr_ids": (48, 54), "outputs": ("T15", "T16")}
    )
    changed = july.model_copy(update={"log": july.log.model_copy(update={"trials": (trial,)})})
    reason = by_cut(changed, explain(changed))["#7", "#10"]
    assert reason.text == "trial 1 offered parts of both (T15, T16): pointwise refused: no, because of 0x.."


@pytest.mark.parametrize("name", [JULY, JULY_LOG, TODAY_LOG])
def test_explanations_go_through_json(name: str, fixture_capture: Fixture) -> None:
    told = explain(fixture_capture(name).fusion)
    assert Explanation.model_validate_json(told.model_dump_json()) == told


def only(fusion: SegmentedFusion) -> Reason:
    (reason,) = explain(fusion).reasons
    return reason


def test_reductions_of_other_dimensions() -> None:
    one = tensor("T1").model_copy(update={"domain": (dim("r", 0, 8), dim("i", 1, 64))})
    two = tensor("T2").model_copy(update={"domain": (dim("i", 2, 8), dim("r", 3, 64))})
    found = handmade(
        ["T0"], ["T2"], ("reduction", "T1 = reduction(T0)"), ("reduction", "T2 = reduction(T1)"), tensors=(one, two)
    )
    assert only(found).kind == "reduction"
    assert only(found).text == "T1 in g0 reduces 0 of [8, 64], T2 in g1 1 of [8, 64]"


def test_two_reshapes_of_one_tensor() -> None:
    found = handmade(
        ["T0"],
        ["T3"],
        ("pointwise", "T1 = reshape(T0); T2 = exp(T1)"),
        ("pointwise", "T4 = reshape(T0); T3 = +(T4, T2)"),
        tensors=(tensor("T0"), tensor("T1", (512,)), tensor("T4", (16, 32))),
    )
    assert only(found).kind == "reshape"
    assert only(found).text == "T0 is reshaped to T1 in g0 and, otherwise, to T4 in g1"


def test_an_operation_that_is_a_kernel_of_its_own() -> None:
    found = handmade(["T0"], ["T2"], ("pointwise", "T1 = exp(T0)"), ("expr_eval", "T2 = matmul(T1, T1)"))
    assert only(found).kind == "operation"
    assert only(found).text == "matmul T2 in g1: only expr_eval takes it, alone"


def test_a_group_without_a_kernel_costs_nothing() -> None:
    found = handmade(["T0"], ["T2"], ("expr_eval", "T1 = permute(T0)"), ("pointwise", "T2 = exp(T1)"))
    assert only(found).kind == "no kernel"
    assert only(found).text == "g0 launches no kernel: the cut costs none"


def test_nothing_against_it() -> None:
    found = handmade(["T0"], ["T2"], ("pointwise", "T1 = exp(T0)"), ("pointwise", "T2 = exp(T1)"))
    assert only(found).text == "no rule that segscope knows is against it; no log tells whether it was tried"
    log = SegmenterLog(whole=None, has_hints=False, trials=())
    assert (
        only(found.model_copy(update={"log": log})).text
        == "no rule that segscope knows is against it; the log has no such trial"
    )


def test_a_trial_that_was_accepted_and_not_made() -> None:
    found = handmade(["T0"], ["T2"], ("pointwise", "T1 = exp(T0)"), ("pointwise", "T2 = exp(T1)"))
    no = Refusal(scheduler="transpose", reason="no", category="other")
    part = Trial(line=1, outputs=("T1", "T2"), expr_ids=(0, 1), refusals=(no,), accepted=None)
    whole = part.model_copy(update={"accepted": "pointwise"})
    for trials in ((part, whole), (whole,)):
        log = SegmenterLog(whole=None, has_hints=False, trials=trials)
        reason = only(found.model_copy(update={"log": log}))
        assert (reason.kind, reason.trial) == ("legal", len(trials) - 1)
        assert reason.text == f"trial {len(trials)} offered both as one, pointwise accepted, and it was not made"


def test_a_slice_inside_a_resize_group_and_a_reduction() -> None:
    found = handmade(
        ["T0"],
        ["T4"],
        ("resize", "T1 = exp(T0); T2 = slice(T1); T3 = exp(T2)"),
        ("reduction", "T4 = reduction(T3)"),
        tensors=(tensor("T1"), tensor("T2", (8, 32)), tensor("T3", (8, 32))),
    )
    assert only(found).kind == "boundary"
    assert only(found).text.startswith("slice T2 in g0 reads T1, computed there")


def test_groups_that_wait_for_each_other_as_it_is() -> None:
    found = handmade(["T0"], ["T3"], ("pointwise", "T1 = exp(T0); T3 = exp(T2)"), ("pointwise", "T2 = exp(T1)"))
    reasons = explain(found).reasons
    assert [reason.kind for reason in reasons] == ["cycle", "cycle"]
    assert {reason.text.partition(": ")[2] for reason in reasons} == {
        "g0 -(T1)-> g1 -(T2)-> g0",
        "g1 -(T2)-> g0 -(T1)-> g1",
    }
    reduced = handmade(["T0"], ["T3"], ("reduction", "T1 = exp(T0); T3 = exp(T2)"), ("pointwise", "T2 = exp(T1)"))
    with pytest.raises(SegscopeError, match="expressions wait for each other: see the rule cycle"):
        reduced.headroom()
    assert {finding.rule for finding in check(reduced, ignore=["order", "resize-boundary"])} == {"cycle"}


def dim(iter_type: str, number: int, size: int) -> IterDomain:
    return IterDomain(iter_type=iter_type, parallel_type="S", number=number, extent=str(size), size=size)
