"""Groups that wait for each other. No real capture has such groups: nvFuser stops before it prints them."""

from __future__ import annotations

from segscope import check, parse
from segscope.model import Edge, NvfuserError
from tests.checks.handmade import fusion
from tests.conftest import FIXTURES

JULY = "null_0.2.8_llama2-13b_bookend0_forward"


def test_a_cycle_over_tensors() -> None:
    found = fusion(
        ["T0"],
        ["T3"],
        ("pointwise", "T1 = +(T0, T2)"),
        ("pointwise", "T2 = exp(T1); T3 = exp(T2)"),
    )
    (finding,) = check(found, select=["cycle"])
    assert (finding.severity, finding.groups, finding.tensors) == ("error", (0, 1), ("T1", "T2"))
    assert "g0 -(T1)-> g1 -(T2)-> g0" in finding.message
    assert "g0 -> g1 (T1)" in finding.advice or "g1 -> g0 (T2)" in finding.advice


def test_a_cycle_over_scalars_alone_without_any_edge() -> None:
    found = fusion(
        ["T0", "T1"],
        ["T2", "T3"],
        ("pointwise", "i1 = fmax(i4); T2 = slice(T0, i2)"),
        ("pointwise", "i2 = fmax(i5); T3 = slice(T1, i1)"),
    )
    assert found.edges == ()
    (finding,) = check(found, select=["cycle"])
    assert (finding.groups, finding.tensors, finding.expressions) == ((0, 1), (), (0, 2))
    assert "g0 -(i1)-> g1 -(i2)-> g0" in finding.message


def test_a_scalar_that_its_reader_also_computes_is_no_dependency() -> None:
    found = fusion(
        ["T0", "T1"],
        ["T2", "T3"],
        ("pointwise", "i1 = fmax(i4); T2 = slice(T0, i2)"),
        ("pointwise", "i1 = fmax(i4); i2 = fmax(i5); T3 = slice(T1, i1)"),
    )
    assert check(found, select=["cycle"]) == []


def test_a_tensor_one_way_and_a_scalar_the_other() -> None:
    found = fusion(
        ["T0"],
        ["T2"],
        ("pointwise", "T1 = slice(T0, i1)"),
        ("pointwise", "i1 = fmax(i4); T2 = exp(T1)"),
    )
    (finding,) = check(found, select=["cycle"])
    assert "g0 -(T1)-> g1 -(i1)-> g0" in finding.message


def test_a_cycle_without_edges_follows_from_inputs_and_outputs() -> None:
    groups = (("pointwise", "T1 = +(T0, T2)"), ("pointwise", "T2 = exp(T1); T3 = exp(T2)"))
    assert check(fusion(["T0"], ["T3"], *groups, edges=False), select=["cycle"])[0].groups == (0, 1)


def test_the_shortest_cycle_and_the_fewest_cuts_of_each_knot() -> None:
    knot = fusion(
        ["T0"],
        ["T3"],
        ("pointwise", "T1 = +(T0, T4)"),
        ("pointwise", "T2 = exp(T1)"),
        ("pointwise", "T3 = exp(T2)"),
        ("pointwise", "T4 = +(T3, T2)"),
        ("pointwise", "T5 = +(T3, T6)"),
        ("pointwise", "T6 = exp(T5)"),
    )
    first, second = check(knot, select=["cycle"])
    assert (first.groups, second.groups) == ((0, 1, 3), (4, 5))
    assert first.message.startswith("4 groups wait for each other")
    assert "the fewest cuts that undo it: " in first.advice
    assert first.advice.count(" -> ") == 1


def test_an_edge_turned_round_in_a_real_fusion() -> None:
    july = parse((FIXTURES / f"{JULY}.txt").read_text()).fusion
    assert check(july, select=["cycle"]) == []
    back = Edge(source=10, target=1, value="T48")
    (finding,) = check(july.model_copy(update={"edges": (*july.edges, back)}), select=["cycle"])
    assert finding.groups == (1, 10)


def test_what_nvfuser_says_of_a_cycle() -> None:
    capture = parse((FIXTURES / f"{JULY}.txt").read_text())
    errors = (
        NvfuserError(line=7, kind="not a DAG", group_id=None, text="Error in graph, is not a DAG."),
        NvfuserError(line=9, kind="group failed", group_id=3, text="failed"),
    )
    (finding,) = check(capture.model_copy(update={"errors": errors}), select=["cycle"])
    assert (finding.severity, finding.fusion, finding.groups) == ("error", None, ())
    assert "line 7" in finding.message
    assert "no segments follow it" in finding.advice
