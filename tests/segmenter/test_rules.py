"""What the rules say of single sets; test_exact.py and test_real.py hold them to nvFuser."""

from __future__ import annotations

import pytest

from segscope.errors import SegscopeError
from segscope.model import IterDomain, SegmentedFusion, Tensor
from segscope.segmenter import Accepted, Answer, Policy, Refused, Unknown, simulate, version
from tests.checks.handmade import fusion, tensor
from tests.conftest import FIXTURES
from tests.segmenter.exact import one, read_fusions

BROADCAST_ROW = Tensor(
    name="T2",
    memory="l",
    dtype="float",
    domain=(
        IterDomain(iter_type="b", parallel_type="S", number=8, extent="1", size=1),
        IterDomain(iter_type="i", parallel_type="S", number=9, extent="64", size=64),
    ),
)


def of_the_whole(cut: SegmentedFusion, number: str = "0.2.36", *, boundary: bool = True) -> Answer:
    trial = simulate(cut, version=number, policy=Policy(boundary=boundary)).trials[0]
    assert trial.step == "whole"
    return trial.answer


@pytest.mark.parametrize(("number", "scheduler"), [("0.2.8", "no_op"), ("0.2.36", "expr_eval")])
def test_views_alone_are_taken_by_the_scheduler_of_the_time(number: str, scheduler: str) -> None:
    cut = fusion(["T0"], ["T1"], ("no_op", "T1 = set(T0)"))
    assert of_the_whole(cut, number) == Accepted(scheduler=scheduler)


def test_what_has_no_rules_is_unknown_and_is_not_merged() -> None:
    cut = fusion(["T0"], ["T2"], ("none", "T1 = scan(T0)"), ("pointwise", "T2 = exp(T1)"))
    simulation = simulate(cut, version="0.2.36")
    assert of_the_whole(cut) == Unknown(why="no rules for scan")
    assert len(simulation.fusion.groups) == 2
    assert {group.scheduler for group in simulation.fusion.groups} == {"none", "pointwise"}


def test_a_product_is_evaluated_alone() -> None:
    cut = fusion(["T0", "T9"], ["T2"], ("expr_eval", "T1 = matmul(T0, T9)"), ("pointwise", "T2 = exp(T1)"))
    assert of_the_whole(cut) == Refused(reason="matmul beside other expressions")
    assert simulate(cut, version="0.2.36").fusion.schedulers == {"expr_eval": 1, "pointwise": 1}


def test_what_shares_nothing_is_no_kernel_and_what_shares_an_input_is_one() -> None:
    apart = fusion(["T0", "T1"], ["T2", "T3"], ("pointwise", "T2 = exp(T0)"), ("pointwise", "T3 = exp(T1)"))
    shared = fusion(["T0"], ["T2", "T3"], ("pointwise", "T2 = exp(T0)"), ("pointwise", "T3 = -(T0)"))
    assert of_the_whole(apart) == Refused(reason="the outputs do not hang together")
    assert of_the_whole(shared) == Accepted(scheduler="pointwise")


@pytest.mark.parametrize(("number", "taken"), [("0.2.8", False), ("0.2.36", True)])
def test_a_slice_of_a_computed_value_needs_the_resize_scheduler(number: str, taken: bool) -> None:
    half = tensor("T2", (8, 32))
    cut = fusion(["T0"], ["T2"], ("resize", "T1 = exp(T0); T2 = slice(T1)"), tensors=(half,))
    if taken:
        assert of_the_whole(cut, number) == Accepted(scheduler="resize")
    else:
        assert of_the_whole(cut, number) == Refused(reason="slice T2 reads T1, which is computed")
        assert of_the_whole(cut, number, boundary=False) == Accepted(scheduler="pointwise")


@pytest.mark.parametrize(("kind", "rank"), [("slice", 1), ("broadcast", 1), ("squeeze", 3), ("permute", 3)])
def test_dimensions_that_do_not_fit_together_are_told(kind: str, rank: int) -> None:
    cut = fusion(["T0"], ["T1"], ("pointwise", f"T1 = {kind}(T0)"), tensors=(tensor("T1", (8,) * rank),))
    with pytest.raises(SegscopeError, match=f"fusion 0: the dimensions of T1 and T0 do not fit together by {kind}"):
        simulate(cut)


def test_a_view_of_nothing_is_told() -> None:
    cut = fusion([], ["T1"], ("pointwise", "T1 = set(i0)"))
    with pytest.raises(SegscopeError, match="fusion 0: set reads no tensor"):
        simulate(cut)


def test_one_output_must_cover_all_inputs() -> None:
    """The rows of T0 and of T1 are not the same, though both are 8: nothing maps one to the other."""
    cut = fusion(
        ["T0", "T1", "T2"],
        ["T3", "T4"],
        ("pointwise", "T3 = +(T2, T0)"),
        ("pointwise", "T4 = +(T2, T1)"),
        tensors=(BROADCAST_ROW,),
    )
    assert of_the_whole(cut) == Refused(reason="no output covers all inputs, and all outputs")


def test_a_softmax_that_hangs_on_the_card_is_unknown() -> None:
    gpt = read_fusions(FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt")[2]
    wide = {
        name: t.model_copy(
            update={"domain": tuple(d.model_copy(update={"size": 65536}) if d.size == 4096 else d for d in t.domain)}
        )
        for name, t in gpt.tensors.items()
    }
    assert of_the_whole(gpt) == Accepted(scheduler="inner_persistent")
    assert isinstance(of_the_whole(gpt.model_copy(update={"tensors": wide})), Unknown)


def test_a_group_that_the_rules_refuse_is_refused_for_a_reason() -> None:
    july = one("null_0.2.8_llama2-13b_bookend0_forward")
    trials = simulate(july, version=version("0.2.8")).trials
    reasons = {trial.answer.reason for trial in trials if isinstance(trial.answer, Refused)}
    assert any("which is computed" in reason for reason in reasons)
