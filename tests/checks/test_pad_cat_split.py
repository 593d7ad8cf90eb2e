"""Concatenations spread over groups. No capture here has one, so those with a finding are made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope import check
from segscope.model import Capture
from tests.checks.handmade import fusion, tensor
from tests.conftest import DUMPS

Read = Callable[[str], Capture]
WIDTHS: dict[str, tuple[int | str, ...]] = {"T2": (0, 0, 0, 4), "T3": (0, 0, "i9", 0)}
PADDED = (tensor("T2", (8, 8)), tensor("T3", (8, 8)), tensor("T4", (8, 8)))


def test_a_cat_without_its_pads() -> None:
    found = fusion(
        ["T0"],
        ["T4"],
        ("pointwise", "T2 = pad(T0)"),
        ("pointwise", "T3 = pad(T0); T4 = cat(T2, T3)"),
        widths=WIDTHS,
        tensors=PADDED,
    )
    (finding,) = check(found, select=["pad-cat-split"])
    assert finding.message == "cat (T4) is in g1, its padded T2 in g0"
    assert (finding.groups, finding.expressions, finding.tensors) == ((0, 1), (0, 2), ("T2",))
    assert finding.bytes == 8 * 8 * 4


def test_a_cat_with_its_pads() -> None:
    group = ("pointwise", "T2 = pad(T0); T3 = pad(T0); T4 = cat(T2, T3)")
    found = fusion(["T0"], ["T4"], group, widths=WIDTHS, tensors=PADDED)
    assert check(found, select=["pad-cat-split"]) == []


ADDED = "T7 = __float2bfloat(T6); T8 = __bfloat2float(T7); T4 = +(T8, T9)"


def test_an_addition_that_stands_for_a_cat() -> None:
    found = fusion(
        ["T0", "T1"],
        ["T4"],
        ("pointwise", "T2 = pad(T0); T5 = __bfloat2float(T2); T6 = -(T5)"),
        ("pointwise", f"T3 = pad(T1); T9 = __bfloat2float(T3); {ADDED}"),
        widths=WIDTHS,
        tensors=PADDED,
    )
    (finding,) = check(found, select=["pad-cat-split"])
    assert finding.message == "the addition that stands for a cat (T4) is in g1, its padded T2 in g0"


@pytest.mark.parametrize(
    ("operator", "widths"),
    [
        ("exp", WIDTHS),  # what was padded with zeros is ones
        ("-", {"T2": (0, 0, 0, 4), "T3": (0, 0, 0, 4)}),  # both padded on the same side
        ("-", {"T2": (0, 4, 0, 0), "T3": (0, 0, 4, 0)}),  # padded in different dimensions
    ],
)
def test_an_addition_that_stands_for_none(operator: str, widths: dict[str, tuple[int | str, ...]]) -> None:
    found = fusion(
        ["T0", "T1"],
        ["T4"],
        ("pointwise", f"T2 = pad(T0); T5 = __bfloat2float(T2); T6 = {operator}(T5)"),
        ("pointwise", f"T3 = pad(T1); T9 = __bfloat2float(T3); {ADDED}"),
        widths=widths,
        tensors=PADDED,
    )
    assert check(found, select=["pad-cat-split"]) == []


def test_the_additions_of_today_have_their_pads(fixture_capture: Read) -> None:
    """With the resize scheduler off nvFuser 0.2.36 makes pads and an addition (T63) of a cat; all are in one group."""
    name = "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward"
    today = fixture_capture(name).fusion
    assert check(today, select=["pad-cat-split"]) == []
    pad, *rest = (expr for expr in today.exprs_of(today.groups[1]) if expr.kind == "pad")
    moved = today.groups[1].model_copy(
        update={"expr_ids": tuple(number for number in today.groups[1].expr_ids if number != pad.id)}
    )
    source = today.groups[0].model_copy(update={"expr_ids": (*today.groups[0].expr_ids, pad.id)})
    split = today.model_copy(update={"groups": (source, moved, *today.groups[2:])})
    (finding,) = check(split, select=["pad-cat-split"])
    assert (finding.groups, finding.tensors, rest != []) == ((0, 1), ("T59",), True)


def test_captures_are_whole() -> None:
    from segscope import read

    assert not [finding for path in DUMPS for finding in check(read(path), select=["pad-cat-split"])]
