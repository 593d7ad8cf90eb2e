"""A segmented fusion, made whole again."""

from __future__ import annotations

import pytest

from segscope.errors import SegscopeError
from segscope.segmenter import Whole, simulate, version
from segscope.segmenter.forwarding import chain, forwarded
from segscope.segmenter.privatise import privatised, undone
from tests.checks.handmade import fusion
from tests.segmenter.exact import one

BEFORE, CASTS = version("0.2.8"), version("0.2.26")


def texts(whole: Whole) -> list[str]:
    return [expr.text for expr in whole.exprs]


def test_expressions_come_in_the_order_in_which_they_lead_to_the_outputs() -> None:
    cut = fusion(
        ["T0", "T1"],
        ["T5", "T3"],
        ("pointwise", "T2 = exp(T1)"),
        ("pointwise", "T3 = -(T0)"),
        ("pointwise", "T5 = +(T3, T2)"),
    )
    assert texts(undone(cut, BEFORE)) == ["T3 = -(T0)", "T2 = exp(T1)", "T5 = +(T3, T2)"]


def test_what_depends_on_itself_or_is_defined_twice_cannot_be_undone() -> None:
    cycle = fusion(["T0"], ["T3"], ("pointwise", "T1 = +(T0, T2); T2 = exp(T1)"), ("pointwise", "T3 = exp(T2)"))
    with pytest.raises(SegscopeError, match=r"T[12] depends on itself, so the fusion cannot be undone"):
        simulate(cycle)
    twice = fusion(["T0"], ["T2"], ("pointwise", "T1 = exp(T0); T1 = -(T0)"), ("pointwise", "T2 = exp(T1)"))
    with pytest.raises(SegscopeError, match="fusion 0: a tensor is defined twice, so the fusion cannot be undone"):
        simulate(twice)


def test_copies_are_folded_into_the_first_by_number_where_the_version_makes_copies() -> None:
    cut = fusion(
        ["T0"],
        ["T2", "T3"],
        ("pointwise", "T9 = __bfloat2float(T0); T2 = exp(T9)"),
        ("pointwise", "T1 = __bfloat2float(T0); T3 = -(T1)"),
    )
    assert texts(undone(cut, CASTS)) == ["T1 = __bfloat2float(T0)", "T2 = exp(T1)", "T3 = -(T1)"]
    assert len(undone(cut, BEFORE).exprs) == 4


def test_each_reader_but_the_first_gets_a_copy_by_the_names_that_the_dump_has() -> None:
    cut = fusion(
        ["T0"],
        ["T2", "T3"],
        ("pointwise", "T9 = __bfloat2float(T0); T2 = exp(T9)"),
        ("pointwise", "T1 = __bfloat2float(T0); T3 = -(T1)"),
    )
    whole = privatised(undone(cut, CASTS), CASTS)
    assert whole.copy_of == {"T9": "T1"}
    assert texts(whole) == ["T1 = __bfloat2float(T0)", "T2 = exp(T1)", "T9 = __bfloat2float(T0)", "T3 = -(T9)"]
    assert whole.tensor("T9") == cut.tensors["T1"]


def test_copies_without_a_name_get_the_next_ones() -> None:
    cut = fusion(["T0"], ["T2", "T3"], ("pointwise", "T1 = __bfloat2float(T0); T2 = exp(T1); T3 = -(T1)"))
    whole = privatised(undone(cut, CASTS), CASTS)
    assert whole.copy_of == {"T4": "T1"}
    assert {expr.id for expr in whole.exprs} > {expr.id for expr in cut.exprs}


def test_a_squeeze_is_copied_for_two_readers_and_not_for_three() -> None:
    today = version("0.2.36")
    two = fusion(["T0"], ["T2", "T3"], ("pointwise", "T1 = squeeze(T0); T2 = exp(T1); T3 = -(T1)"))
    three = fusion(
        ["T0"], ["T2", "T3", "T4"], ("pointwise", "T1 = squeeze(T0); T2 = exp(T1); T3 = -(T1); T4 = rsqrt(T1)")
    )
    assert len(privatised(undone(two, today), today).copy_of) == 1
    assert privatised(undone(two, CASTS), CASTS).copy_of == {}
    assert privatised(undone(three, today), today).copy_of == {}


def test_chains_of_unary_operations_behind_an_input_are_set_aside() -> None:
    cut = fusion(["T0", "T1"], ["T5"], ("pointwise", "T2 = exp(T0); T3 = -(T2); T4 = +(T3, T1); T5 = exp(T4)"))
    whole = undone(cut, BEFORE)
    found = forwarded(whole, BEFORE)
    assert found.inputs == ("T1", "T3")
    assert whole.names(sorted(found.set_aside)) == ("T2", "T3")
    assert whole.names(chain(whole, "T3")) == ("T2", "T3")


def test_an_output_ends_no_chain_and_a_hint_does_since_august_2024() -> None:
    to_output = undone(fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)")), BEFORE)
    assert forwarded(to_output, BEFORE).inputs == ("T0",)
    into_hint = undone(fusion(["T0"], ["T2"], ("pointwise", "T1 = exp(T0); T2 = segmenter_set(T1)")), BEFORE)
    assert forwarded(into_hint, BEFORE).inputs == ("T1",)
    assert forwarded(into_hint, version("0.2.9")).inputs == ("T0",)


def test_a_dump_that_cannot_be_undone_is_an_error() -> None:
    half = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"), complete=False)
    dead = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0); T2 = -(T0)"))
    with pytest.raises(SegscopeError, match="fusion 0: the dump is not whole"):
        simulate(half)
    with pytest.raises(SegscopeError, match="fusion 0: T2 leads to no output"):
        simulate(dead)


def test_a_dump_without_a_log_has_no_log_to_ask() -> None:
    with pytest.raises(SegscopeError, match="no log in the dump; capture it with NVFUSER_DUMP=segmenter_logging"):
        simulate(one("null_0.2.8_llama2-13b_bookend0_forward"), oracle="log", version="0.2.8")
