"""Views of inputs that a kernel hands on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope import check
from segscope.model import Capture
from tests.checks.handmade import fusion, tensor

Read = Callable[[str], Capture]


def test_k_reads_the_expanded_cosines_from_q(fixture_capture: Read) -> None:
    """Llama-2-13b on the H200, resize scheduler off: the only thing that orders the two kernels."""
    today = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward").fusion
    (finding,) = check(today, select=["broadcast-crossing"])
    q, k = (today.groups[index] for index in finding.groups)
    assert [(group.id, group.scheduler) for group in (q, k)] == [(4, "pointwise"), (3, "pointwise")]
    assert set(finding.tensors) == {"T20", "T25"}
    assert finding.bytes == 2 * 4096 * 128 * 2
    assert finding.message == (
        "g3 reads T25 and T20 from g4: only broadcast and expand of T2 and T1, and nothing else crosses there"
    )
    assert finding.advice == "let g3 read T2 and T1 and repeat the broadcast and expand"


def test_july_2024_hands_on_computed_tensors(fixture_capture: Read) -> None:
    """T8 is a view too, but slices must find it in memory."""
    july = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward")
    assert check(july, select=["broadcast-crossing"]) == []


def test_a_view_of_what_the_kernel_computes_is_fine() -> None:
    found = fusion(["T0"], ["T3"], ("pointwise", "T1 = exp(T0); T2 = broadcast(T1)"), ("pointwise", "T3 = exp(T2)"))
    assert check(found, select=["broadcast-crossing"]) == []


def test_a_group_that_launches_no_kernel_may_hand_on_views() -> None:
    found = fusion(["T0"], ["T3"], ("expr_eval", "T2 = broadcast(T0)"), ("pointwise", "T3 = exp(T2)"))
    assert check(found, select=["broadcast-crossing"]) == []


def test_what_else_crosses_is_not_said_to_be_missing() -> None:
    found = fusion(["T0"], ["T3"], ("pointwise", "T1 = exp(T0); T2 = broadcast(T0)"), ("pointwise", "T3 = +(T1, T2)"))
    (finding,) = check(found, select=["broadcast-crossing"])
    assert finding.message == "g1 reads T2 from g0: only broadcast of T0"
    assert finding.expressions == (1,)


def test_a_view_that_a_slice_must_find_in_memory() -> None:
    groups = (("pointwise", "T1 = exp(T0); T2 = broadcast(T0)"), ("pointwise", "T3 = slice(T2); T4 = +(T3, T1)"))
    found = fusion(["T0"], ["T4"], *groups, tensors=(tensor("T3", (8, 2)),))
    assert check(found, select=["broadcast-crossing"]) == []


@pytest.mark.parametrize("name", ["Llama-2-13b-hf_bookend0_resize-off", "tiny-llama-1.1b_bookend0", "phi-2_bookend0"])
def test_scalars_of_a_backward_pass_cost_nothing(fixture_capture: Read, name: str) -> None:
    """The gradient of a sum is expanded from one element, and phi-2 slices it."""
    backward = fixture_capture(f"h200_0.2.36_{name}_forward+backward").fusions[1]
    assert check(backward, select=["broadcast-crossing"]) == []


@pytest.mark.parametrize(("shape", "number"), [((1, 32), 0), ((1, 33), 1), ((), 0)])
def test_what_fits_in_a_cache_line_costs_nothing(shape: tuple[int, ...], number: int) -> None:
    groups = (("pointwise", "T1 = exp(T0); T2 = broadcast(T0)"), ("pointwise", "T3 = +(T1, T2)"))
    found = fusion(["T0"], ["T3"], *groups, tensors=(tensor("T2", shape),))
    assert len(check(found, select=["broadcast-crossing"])) == number


def test_a_tensor_of_unknown_size_may_be_large() -> None:
    groups = (("pointwise", "T1 = exp(T0); T2 = broadcast(T0)"), ("pointwise", "T3 = +(T1, T2)"))
    found = fusion(["T0"], ["T3"], *groups, tensors=(tensor("T2", (1,)).model_copy(update={"dtype": None}),))
    (finding,) = check(found, select=["broadcast-crossing"])
    assert finding.bytes is None
