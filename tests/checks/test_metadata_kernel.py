"""Kernels that only copy."""

from __future__ import annotations

from collections.abc import Callable

from segscope import check
from segscope.model import Capture, IterDomain, Tensor
from tests.checks.handmade import fusion, tensor

Read = Callable[[str], Capture]


def test_tiny_llama_copies_expanded_heads(fixture_capture: Read) -> None:
    """nvFuser 0.2.36 on the H200: a pointwise kernel for a reshape of an expanded tensor, which is no view."""
    capture = fixture_capture("h200_0.2.36_tiny-llama-1.1b_bookend0_forward")
    (finding,) = check(capture, select=["metadata-kernel"])
    group = capture.fusion.groups[finding.groups[0]]
    assert (group.id, group.scheduler) == (2, "pointwise")
    assert finding.message == "g2 (pointwise) launches a kernel for expand, reshape alone"
    assert finding.tensors == group.outputs
    assert finding.bytes == 16777216


def test_llama_2_copies_nothing(fixture_capture: Read) -> None:
    for name in ("null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"):
        assert check(fixture_capture(name), select=["metadata-kernel"]) == []


def test_a_kernel_without_any_statement_is_not_judged() -> None:
    found = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"))
    (group,) = found.groups
    bare = found.model_copy(update={"groups": (group.model_copy(update={"expr_ids": ()}),)})
    assert check(bare, select=["metadata-kernel"]) == []


def expanded(name: str) -> Tensor:
    """Of shape (2, 3), of which 3 elements are in memory."""
    one = IterDomain(
        iter_type="b", parallel_type="S", number=8, extent="1", size=1, expanded_extent="2", expanded_size=2
    )
    return Tensor(name=name, memory="g", dtype="float", domain=(one, *tensor(name, (3,)).domain))


def test_a_reshape_that_merges_an_expanded_dimension_copies() -> None:
    """Hand-made: nvFuser makes a kernel of it, as in tiny-llama above."""
    group = ("expr_eval", "T1 = expand(T0); T2 = reshape(T1)")
    found = fusion(["T0"], ["T2"], group, tensors=(expanded("T1"), tensor("T2", (6,))))
    (finding,) = check(found, select=["metadata-kernel"])
    assert (finding.groups, finding.expressions, finding.tensors, finding.bytes) == ((0,), (1,), ("T2",), 24)
    assert "merges an expanded dimension, which copies" in finding.message


def test_a_reshape_that_leaves_it_alone_is_a_view() -> None:
    group = ("expr_eval", "T1 = expand(T0); T2 = reshape(T1)")
    found = fusion(["T0"], ["T2"], group, tensors=(expanded("T1"), expanded("T2")))
    assert check(found, select=["metadata-kernel"]) == []
