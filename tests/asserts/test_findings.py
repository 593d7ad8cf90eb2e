"""That rules find nothing, why schedulers refused, and that two segmentations are the same."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from segscope import SegscopeError
from segscope.asserts import assert_no_findings, assert_refused, assert_same_segmentation
from segscope.model import Capture, Edge
from tests.asserts.failing import failing
from tests.checks.handmade import fusion
from tests.checks.renumber import renumbered

Read = Callable[[str], Capture]
JULY, TODAY = "null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"
LOG = "null_0.2.8_llama2-13b_log_forward"


def test_a_selected_rule_counts_whatever_it_says(fixture_capture: Read) -> None:
    july, today = fixture_capture(JULY), fixture_capture(TODAY)
    assert_no_findings(july, select=["cycle", "order"])
    assert_no_findings(today, select="fp32-crossing")
    lines = failing(assert_no_findings, july, select="over-segmented").splitlines()
    assert lines[0] == "asked for no findings of over-segmented, found 1 finding of over-segmented"
    assert lines[1].startswith("  note: over-segmented: fusion 0: 6 kernel groups where 4 would do")
    assert lines[2].startswith("    see why each cut is there")


def test_of_all_rules_notes_do_not_count(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    assert_no_findings(july, ignore="fp32-crossing")
    lines = failing(assert_no_findings, july).splitlines()
    assert lines[0] == "asked for no findings, found 2 findings of fp32-crossing"
    assert [line.split(":")[0] for line in lines[1:5:2]] == ["  warning", "  warning"]
    with pytest.raises(SegscopeError, match="unknown rule 'fp32'"):
        assert_no_findings(july, select="fp32")


def test_refused(fixture_capture: Read) -> None:
    log = fixture_capture(LOG)
    assert_refused(log, "First input of PadOp must be fusion input")
    assert_refused(log, "boundary", scheduler="pointwise", trying=("neg", "pad"))
    assert_refused(log, "boundary", scheduler="transpose", trying="T15")
    lines = failing(assert_refused, log, "resize", scheduler="no_op", trying=("neg", "pad")).splitlines()
    assert lines[0] == "asked for a refusal by no_op of what holds neg and pad for 'resize', found other reasons"
    assert lines[1].endswith(" times no_op: output has a concrete dimension")
    lines = failing(assert_refused, log, "boundary", trying=("T10", "T11")).splitlines()
    assert lines[0] == "asked for a refusal of what holds T10 and T11 for 'boundary', found no refusal"
    lines = failing(assert_refused, log, "boundary", scheduler="resize").splitlines()
    assert lines[0] == "asked for a refusal by resize for 'boundary', found no refusal"


def test_refusals_that_cannot_be_judged(fixture_capture: Read) -> None:
    with pytest.raises(SegscopeError, match="NVFUSER_DUMP=segmented_fusion,segmenter_logging"):
        assert_refused(fixture_capture(JULY), "boundary")
    with pytest.raises(SegscopeError, match="unknown scheduler 'pointwize'"):
        assert_refused(fixture_capture(LOG), "boundary", scheduler="pointwize")
    for reason in ("", "  "):
        with pytest.raises(SegscopeError, match="name a part of the reason"):
            assert_refused(fixture_capture(LOG), reason)


@pytest.mark.parametrize("name", [JULY, TODAY, "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward"])
def test_numbers_and_order_make_no_difference(name: str, fixture_capture: Read) -> None:
    capture = fixture_capture(name)
    other = [renumbered(found, Random(7)) for found in reversed(capture.fusions)]
    assert_same_segmentation(capture, capture.model_copy(update={"fusions": tuple(other)}))


def test_what_differs_is_said_in_words(fixture_capture: Read) -> None:
    lines = failing(assert_same_segmentation, fixture_capture(JULY), fixture_capture(TODAY)).splitlines()
    assert lines[0].startswith("asked for the same segmentation, found 6 kernel groups -> 2; 3 merged")
    assert any(line.startswith("merged: #1, #7 and #10 (pointwise) -> g4 (resize)") for line in lines)
    assert len([line for line in lines if line.startswith("group ")]) == 2


def test_another_edge_between_the_same_groups() -> None:
    groups = (("pointwise", "T1 = exp(T0); T2 = rsqrt(T0)"), ("pointwise", "T3 = +(T1, T2)"))
    one = fusion(["T0"], ["T3"], *groups)
    other = one.model_copy(update={"edges": (Edge(source=0, target=1, value="T1"),)})
    text = failing(assert_same_segmentation, one, other)
    assert text.startswith(
        "asked for the same segmentation, found the same groups, with other scalars or edges between them\n"
    )
    assert_same_segmentation(one, one)
