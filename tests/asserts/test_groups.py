"""How many groups."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope import SegscopeError
from segscope.asserts import assert_groups, assert_kernel_groups
from segscope.asserts.bounds import HowMany
from segscope.model import Capture
from tests.asserts.failing import failing
from tests.checks.handmade import fusion

Read = Callable[[str], Capture]
JULY, TODAY = "null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"
GPT = "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward"


def test_what_holds(fixture_capture: Read) -> None:
    july, today = fixture_capture(JULY), fixture_capture(TODAY)
    assert_groups(july, pointwise=6)
    assert_groups(july.fusion, 11, pointwise="<=6", no_op=5, resize=0)
    assert_groups(today, resize=2, expr_eval=4)
    assert_groups(today, resize="!=0", expr_eval=">3", pointwise="<1")
    assert_groups(today, "<7")
    assert_groups(today, pointwise=0, others=2)
    assert_groups(today, expr_eval=4, others=">=0")


def test_the_groups_of_a_capture_are_those_of_all_its_fusions(fixture_capture: Read) -> None:
    gpt = fixture_capture(GPT)
    assert_groups(gpt, sum(len(found.groups) for found in gpt.fusions))
    assert_kernel_groups(gpt, sum(found.count() for found in gpt.fusions))
    text = failing(assert_kernel_groups, gpt, 1)
    assert [line for line in text.splitlines() if line.startswith("fusion 16: ")]
    assert len(text.splitlines()) < 100


def test_a_wrong_number_shows_the_groups_and_what_bears_on_it(fixture_capture: Read) -> None:
    lines = failing(assert_groups, fixture_capture(JULY), pointwise=2, no_op=5).splitlines()
    assert lines[0] == "asked for 2 pointwise and 5 no_op, found 6 pointwise"
    assert "fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups" in lines
    assert [line.split()[:3] for line in lines if line.startswith("#7 ")] == [["#7", "pointwise", "yes"]]
    found = lines.index("findings")
    assert lines[found + 1].startswith("  warning: fp32-crossing: fusion 0: T22 crosses from #1 to #4")
    assert any(line.startswith("  note: over-segmented: fusion 0: 6 kernel groups where 4 would do") for line in lines)
    assert any("pad T16 in #10 reads T15" in line for line in lines)
    assert not any("#0 -> #1" in line for line in lines), "a cut at a metadata group bears on no kernel"


def test_a_scheduler_whose_place_another_took_does_not_pass_unseen(fixture_capture: Read) -> None:
    """RoPE's kernels are resize since March 2025: at most two pointwise groups is true of none."""
    lines = failing(assert_groups, fixture_capture(TODAY), pointwise="<=2").splitlines()
    assert lines[:2] == [
        "asked for <=2 pointwise and 0 other kernel groups, found 2 resize",
        "no pointwise group here; the kernel groups are 2 resize",
    ]
    lines = failing(assert_groups, fixture_capture(TODAY), pointwise=2).splitlines()
    assert lines[0] == "asked for 2 pointwise and 0 other kernel groups, found 0 pointwise and 2 resize"


def test_metadata_groups_that_are_not_named_are_not_looked_at() -> None:
    found = fusion(["T0"], ["T2"], ("expr_eval", "T1 = permute(T0)"), ("pointwise", "T2 = exp(T1)"))
    assert_groups(found, pointwise=1)
    evaluated = fusion(["T0"], ["T2"], ("expr_eval", "T1 = matmul(T0)"), ("pointwise", "T2 = exp(T1)"))
    text = failing(assert_groups, evaluated, pointwise=1)
    assert text.startswith("asked for 1 pointwise and 0 other kernel groups, found 1 expr_eval\n")


@pytest.mark.parametrize(("how_many", "found"), [(5, "6"), ("<=4", "6"), (">6", "6"), ("!=6", "6"), ("== 2", "6")])
def test_kernel_groups(how_many: HowMany, found: str, fixture_capture: Read) -> None:
    text = failing(assert_kernel_groups, fixture_capture(JULY), how_many)
    asked = str(how_many).removeprefix("== ")
    assert text.splitlines()[0] == f"asked for {asked} kernel groups, found {found}"
    assert_kernel_groups(fixture_capture(JULY), 6)


def test_half_a_dump_proves_nothing() -> None:
    found = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"), complete=False)
    for assertion in (assert_kernel_groups, assert_groups):
        text = failing(assertion, found, 1)
        assert text == (
            "nothing can be asserted of half a dump: fusion 0: 1 group (1 pointwise), 1 kernel group, dump incomplete"
        )


@pytest.mark.parametrize("wrong", ["two", "=2", "<=", "<=-1", True, 2.0, None, "9" * 5000])
def test_what_is_no_bound(wrong: object, fixture_capture: Read) -> None:
    with pytest.raises(SegscopeError, match="is no number and no bound"):
        assert_kernel_groups(fixture_capture(JULY), wrong)  # type: ignore[arg-type]


def test_what_is_an_error(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    with pytest.raises(SegscopeError, match="unknown scheduler 'pointwize'; valid: no_op, pointwise"):
        assert_groups(july, pointwize=0)
    with pytest.raises(SegscopeError, match="name how many groups"):
        assert_groups(july)
    with pytest.raises(SegscopeError, match="expected a fusion or a capture, not list"):
        assert_kernel_groups([july], 6)  # type: ignore[arg-type]
