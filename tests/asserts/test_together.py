"""What is in the same group, what is apart, and what crosses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope import SegscopeError
from segscope.asserts import (
    assert_crossing_dtypes,
    assert_cut_between,
    assert_different_groups,
    assert_same_group,
)
from segscope.asserts.selection import select
from segscope.model import Capture
from segscope.render.selection import group_index
from tests.asserts.failing import failing
from tests.checks.handmade import fusion, tensor

Read = Callable[[str], Capture]
JULY, TODAY = "null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"
GPT = "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward"


@pytest.mark.parametrize(
    ("selector", "items", "groups"),
    [
        ("#7", ["#7"], {7}),
        ("no_op", ["#0", "#2", "#3", "#5", "#6"], {0, 2, 3, 5, 6}),
        ("scheduler:no_op", ["#0", "#2", "#3", "#5", "#6"], {0, 2, 3, 5, 6}),
        ("T15", ["cast T15"], {7}),
        ("T0", ["reshape T3"], {0}),
        ("neg", ["neg T14", "neg T34"], {7, 8}),
        ("op:neg", ["neg T14", "neg T34"], {7, 8}),
        ("-", ["neg T14", "neg T34"], {7, 8}),
        ("cast to bfloat", ["cast T15", "cast T35", "cast T44", "cast T30"], {7, 8, 9, 10}),
        ("unary", ["neg T14", "neg T34"], {7, 8}),
    ],
)
def test_selectors(selector: str, items: list[str], groups: set[int], fixture_capture: Read) -> None:
    found = select(fixture_capture(JULY).fusion, selector)
    assert [item.name for item in found.items] == items
    assert found.groups == groups


def test_what_is_selected_by_group_id(fixture_capture: Read) -> None:
    today = fixture_capture(TODAY).fusion
    assert [select(today, label).groups for label in ("g5", "#0", "#1")] == [{0}, {0}, {1}]
    assert select(today, "#1").items[0].name == today.groups[1].label


def test_what_picture_and_assertion_call_a_group_is_the_same(fixture_capture: Read) -> None:
    for name in (JULY, TODAY):
        found = fixture_capture(name).fusion
        for index, group in enumerate(found.groups):
            for label in (group.label, f"#{index}"):
                assert select(found, label).groups == {group_index(found, label)} == {index}


@pytest.mark.parametrize(
    ("selector", "there"),
    [
        ("matmull", "operations here: reshape · permute · 9 slice · "),
        ("T99", "operations here: "),
        ("resize", "operations here: "),
        ("i7", "operations here: "),
        ("g3", "groups here: #0 #1 #2 #3 "),
        ("#11", "groups here: #0 #1 #2 #3 "),
        ("#" + "9" * 5000, "groups here: #0 #1 #2 #3 "),
    ],
)
def test_a_selector_of_nothing_fails(selector: str, there: str, fixture_capture: Read) -> None:
    """Of nothing everything is true; a misspelt operation must not pass for one that is apart."""
    lines = failing(assert_different_groups, fixture_capture(JULY), "cat", selector).splitlines()
    assert lines[0] == f"asked for something that is {selector!r}, found nothing"
    assert lines[1].startswith(there)


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("reduction", "'reduction' is an operation and a scheduler: say 'op:reduction' or 'scheduler:reduction'"),
        ("scheduler:pointwize", "unknown scheduler 'pointwize'"),
        (3, "a selector is a text such as 'cat'"),
    ],
)
def test_a_selector_that_is_none(selector: str, says: str, fixture_capture: Read) -> None:
    with pytest.raises(SegscopeError, match=says):
        assert_same_group(fixture_capture(JULY), "cat", selector)


def test_same_group(fixture_capture: Read) -> None:
    july, today = fixture_capture(JULY), fixture_capture(TODAY)
    assert_same_group(today, "neg", "cat", "add")
    assert_same_group(july.fusion, "cat", "pad")
    assert_same_group(july.fusion, "T38", "T52", "#9")
    lines = failing(assert_same_group, july, "neg", "cat").splitlines()
    assert lines[:3] == [
        "asked for neg in the same group as cat, found neg T14 and neg T34 alone",
        "neg: neg T14 in #7, neg T34 in #8",
        "cat: cat T38 in #9, cat T52 in #9, cat T18 in #10, cat T48 in #10",
    ]
    text = failing(assert_same_group, july, "cat", "T38")
    assert text.startswith("asked for cat in the same group as T38, found cat T18 and cat T48 alone\n")


def test_what_is_repeated_is_together_with_what_any_of_its_groups_holds() -> None:
    groups = (("pointwise", "T1 = cast(T0); T2 = exp(T1)"), ("pointwise", "T1 = cast(T0); T3 = rsqrt(T1)"))
    found = fusion(["T0"], ["T2", "T3"], *groups)
    assert_same_group(found, "T1", "exp")
    assert_same_group(found, "T1", "rsqrt")
    assert failing(assert_same_group, found, "exp", "rsqrt")
    assert failing(assert_different_groups, found, "T1", "rsqrt")
    assert_different_groups(found, "exp", "rsqrt")


def test_different_groups(fixture_capture: Read) -> None:
    assert_different_groups(fixture_capture(JULY), "neg", "cat", "reshape")
    lines = failing(assert_different_groups, fixture_capture(TODAY), "reshape", "neg", "cat").splitlines()
    assert lines[0] == "asked for neg and cat in different groups, found some of both in g4 and g3"
    with pytest.raises(SegscopeError, match="name two or more"):
        assert_different_groups(fixture_capture(TODAY), "neg")


def test_only_findings_about_the_groups_in_question_are_shown(fixture_capture: Read) -> None:
    text = failing(assert_same_group, fixture_capture(JULY), "T15", "T16")
    _, _, findings = text.partition("\nfindings\n")
    (finding,) = findings.splitlines()
    assert "the cut #7 -> #10 is there because pad T16 in #10 reads T15" in finding


def test_cut_between(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    assert_cut_between(july, "neg", "pad")
    assert_cut_between(july, "pad", "neg")
    assert_cut_between(july, "T14", "T16", over="T15")
    lines = failing(assert_cut_between, july, "T14", "T16", over=["T15", "T23"]).splitlines()
    assert lines[0] == "asked for T23 over the cut between T14 and T16, found T15"
    assert "#7 -> #10: T15 __bfloat [2, 40, 4096, 64] 41.9 MB" in lines
    lines = failing(assert_cut_between, july, "#7", "#8").splitlines()
    assert lines[0] == "asked for a cut between #7 and #8, found nothing that passes directly between their groups"
    lines = failing(assert_cut_between, july, "T14", "T15").splitlines()
    assert lines[0] == "asked for a cut between T14 and T15, found both together in #7"


def test_groups_with_both_are_not_cut_apart_whatever_else_passes(fixture_capture: Read) -> None:
    today = fixture_capture(TODAY)
    assert {("g4", "g3")} <= {tuple(today.fusion.groups[i].label for i in cut[:2]) for cut in today.fusion.cuts}
    lines = failing(assert_cut_between, today, "neg", "cat").splitlines()
    assert lines[0] == "asked for a cut between neg and cat, found both together in g4 and g3"
    groups = (
        ("pointwise", "T1 = exp(T0); T2 = rsqrt(T1)"),
        ("pointwise", "T3 = exp(T2)"),
        ("resize", "T4 = rsqrt(T3)"),
    )
    found = fusion(["T0"], ["T4"], *groups)
    assert_cut_between(found, "exp", "rsqrt", over="T3")
    assert failing(assert_cut_between, found, "exp", "rsqrt", over="T2")


def test_nothing_over_a_cut_is_an_error(fixture_capture: Read) -> None:
    for over in ("", []):
        with pytest.raises(SegscopeError, match="over is empty"):
            assert_cut_between(fixture_capture(JULY), "neg", "pad", over=over)


def test_crossing_dtypes(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    assert_crossing_dtypes(july, "bfloat16", "float32")
    assert_crossing_dtypes(july, "__bfloat", "float")
    assert_crossing_dtypes(july, "torch.bfloat16", "float")
    text = failing(assert_crossing_dtypes, july, "bfloat16")
    assert text.startswith(
        "asked for bfloat16 between kernel groups, found T23 float [2, 40, 4096, 128] 167.8 MB, "
        "T22 float [2, 40, 4096, 128] 2.1 MB (expanded), "
    )
    with pytest.raises(SegscopeError, match="unknown dtype 'bfloat15'; valid: bfloat16, "):
        assert_crossing_dtypes(july, "bfloat15")
    with pytest.raises(SegscopeError, match="name a dtype"):
        assert_crossing_dtypes(july)


def test_what_a_metadata_group_reads_crosses_nothing() -> None:
    groups = (("expr_eval", "T1 = permute(T0)"), ("pointwise", "T2 = exp(T1)"))
    found = fusion(["T0"], ["T2"], *groups, tensors=(tensor("T1", dtype="double"),))
    assert_crossing_dtypes(found, "float32")


def test_of_several_fusions_one_must_be_named(fixture_capture: Read) -> None:
    gpt = fixture_capture(GPT)
    with pytest.raises(
        SegscopeError, match=r"18 fusions, and this is about one: give capture\.fusions\[n\], n from 0 to 17"
    ):
        assert_same_group(gpt, "mul", "add")
    assert_same_group(gpt.fusions[1], "mul", "add")
