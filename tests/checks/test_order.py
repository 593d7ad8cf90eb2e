"""Where values come from. Real fusions are all in order (``test_fixtures.py``)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope import check
from segscope.model import Capture, Edge, SegmentedFusion
from tests.checks.handmade import fusion

Read = Callable[[str], Capture]
JULY = "null_0.2.8_llama2-13b_bookend0_forward"


def messages(found: SegmentedFusion) -> list[str]:
    return [finding.message for finding in check(found, select=["order"])]


def test_a_group_before_what_it_reads() -> None:
    found = fusion(["T0"], ["T2"], ("pointwise", "T2 = exp(T1)"), ("pointwise", "T1 = exp(T0)"))
    assert messages(found) == ["g0 reads T1, which g1 makes only later"]


def changed(found: SegmentedFusion, index: int, **fields: tuple[str, ...]) -> SegmentedFusion:
    groups = list(found.groups)
    groups[index] = groups[index].model_copy(update=fields)
    return found.model_copy(update={"groups": tuple(groups)})


@pytest.mark.parametrize(
    ("index", "fields", "says"),
    [
        (
            7,
            {"inputs": ("T8", "T999")},
            ["#7 reads T999, which is no input of the fusion and no output of another group"],
        ),
        (
            7,
            {"inputs": ()},
            [
                "the edge #1 -> #7 carries T8, which is no input of #7",
                "#7 uses T8 and neither computes it nor has it as an input",
            ],
        ),
        (7, {"outputs": ("T15", "T16")}, ["#7 has T16 as an output and does not compute it"]),
        (
            10,
            {"outputs": ()},
            ["no group has T48, an output of the fusion, as an output"],
        ),
        (
            7,
            {"outputs": ()},
            [
                "#10 reads T15, which is no input of the fusion and no output of another group",
                "the edge #7 -> #10 carries T15, which is no output of #7",
            ],
        ),
    ],
)
def test_a_real_fusion_with_a_change(
    fixture_capture: Read, index: int, fields: dict[str, tuple[str, ...]], says: list[str]
) -> None:
    july = fixture_capture(JULY).fusion
    assert messages(july) == []
    assert sorted(messages(changed(july, index, **fields))) == sorted(says)


def test_an_edge_that_carries_something_else(fixture_capture: Read) -> None:
    july = fixture_capture(JULY).fusion
    wrong = july.model_copy(update={"edges": (*july.edges, Edge(source=1, target=10, value="T15"))})
    assert messages(wrong) == ["the edge #1 -> #10 carries T15, which is no output of #1"]


def test_casts_metadata_and_scalars_may_be_in_several_groups() -> None:
    found = fusion(
        ["T0"],
        ["T3", "T4"],
        ("pointwise", "i1 = fmax(i4); T1 = __bfloat2float(T0); T2 = broadcast(T1); T3 = exp(T2)"),
        ("pointwise", "i1 = fmax(i4); T1 = __bfloat2float(T0); T2 = broadcast(T1); T4 = exp(T2)"),
    )
    assert messages(found) == []


def test_other_expressions_may_not() -> None:
    found = fusion(
        ["T0"],
        ["T3", "T4"],
        ("pointwise", "T1 = exp(T0); T3 = exp(T1)"),
        ("pointwise", "T1 = exp(T0); T4 = rsqrt(T1)"),
    )
    (finding,) = check(found, select=["order"])
    assert finding.message == "unary of T1 is computed in each of g0 and g1"
    assert (finding.groups, finding.expressions, finding.tensors) == ((0, 1), (0,), ("T1",))


def test_an_incomplete_dump_is_no_error() -> None:
    groups = (("pointwise", "T2 = exp(T1)"), ("pointwise", "T1 = exp(T0)"))
    severities = {
        complete: [f.severity for f in check(fusion(["T0"], ["T2"], *groups, complete=complete), select=["order"])]
        for complete in (True, False)
    }
    assert severities == {True: ["error"], False: ["warning"]}
