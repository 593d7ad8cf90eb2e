"""Tensors that cross in float32 for nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope import capture_rope, check
from segscope.model import Capture
from tests.checks.handmade import fusion, tensor

Read = Callable[[str], Capture]


def test_july_2024_passes_the_up_cast_cosines(fixture_capture: Read) -> None:
    july = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    first, second = check(july, select=["fp32-crossing"])
    assert (first.groups, first.tensors, first.bytes) == ((1, 4), ("T22", "T20"), 4096 * 128 * 2)
    assert (second.groups, second.tensors, second.bytes) == ((9, 10), ("T27", "T25"), 4096 * 128 * 2)
    assert first.message == "T22 crosses from #1 to #4 in float32, and it is only T20 in more bits"
    assert first.severity == "warning"


def test_today_does_not(fixture_capture: Read) -> None:
    today = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward")
    assert check(today, select=["fp32-crossing"]) == []


@pytest.mark.parametrize("half", ["bfloat", "half"])
def test_a_tensor_that_is_only_read_to_be_cast_down(half: str) -> None:
    found = fusion(
        ["T0"],
        ["T2"],
        ("pointwise", "T1 = exp(T0)"),
        ("pointwise", f"T2 = __float2{half}(T1)"),
        tensors=(tensor("T1", (8, 64)),),
    )
    (finding,) = check(found, select=["fp32-crossing"])
    assert (finding.tensors, finding.bytes, finding.expressions) == (("T1", "T2"), 1024, (1,))
    assert finding.advice == "cast it where it is made and pass T2"


@pytest.mark.parametrize(
    ("outputs", "second"),
    [
        (["T2", "T3"], "T2 = __float2bfloat(T1); T3 = exp(T1)"),  # all its bits are used
        (["T1", "T2"], "T2 = __float2bfloat(T1)"),  # the caller asked for it
        (["T2"], "T2 = __float2double(T1)"),
    ],
)
def test_a_tensor_that_must_be_float(outputs: list[str], second: str) -> None:
    found = fusion(["T0"], outputs, ("pointwise", "T1 = exp(T0)"), ("pointwise", second))
    assert check(found, select=["fp32-crossing"]) == []


def test_what_the_maker_reads_itself_need_not_cross() -> None:
    groups = (("pointwise", "T1 = exp(T0); T3 = rsqrt(T1)"), ("pointwise", "T2 = __float2bfloat(T1)"))
    (finding,) = check(fusion(["T0"], ["T2", "T3"], *groups), select=["fp32-crossing"])
    assert finding.tensors == ("T1", "T2")


def test_readers_that_cast_to_different_types_share_no_other_tensor() -> None:
    groups = (
        ("pointwise", "T1 = exp(T0)"),
        ("pointwise", "T2 = __float2bfloat(T1)"),
        ("pointwise", "T3 = __float2half(T1)"),
    )
    assert check(fusion(["T0"], ["T2", "T3"], *groups), select=["fp32-crossing"]) == []


def test_one_finding_for_a_tensor_with_several_readers() -> None:
    found = fusion(
        ["T0"],
        ["T2", "T3"],
        ("pointwise", "T1 = __half2float(T0)"),
        ("pointwise", "T2 = exp(T1)"),
        ("pointwise", "T3 = rsqrt(T1)"),
    )
    (finding,) = check(found, select=["fp32-crossing"])
    assert finding.groups == (0, 1, 2)
    assert "from g0 to g1 and g2" in finding.message


@pytest.mark.parametrize(("shape", "number"), [((32,), 0), ((33,), 1), ((), 0), ((1, 8, 4), 0)])
def test_what_fits_in_a_cache_line_costs_nothing(shape: tuple[int, ...], number: int) -> None:
    groups = (("pointwise", "T1 = __half2float(T0)"), ("pointwise", "T2 = exp(T1)"))
    found = fusion(["T0"], ["T2"], *groups, tensors=(tensor("T1", shape),))
    assert len(check(found, select=["fp32-crossing"])) == number


@pytest.mark.parametrize(
    ("dtype", "option"), [("__bfloat", "NVFUSER_ENABLE=io_to_lower_precision"), ("float", None), ("int64_t", None)]
)
def test_nvfusers_option_bears_on_what_becomes_16_bits(dtype: str, option: str | None) -> None:
    groups = (("pointwise", "T1 = __half2float(T0)"), ("pointwise", "T2 = exp(T1)"))
    found = fusion(["T0"], ["T2"], *groups, tensors=(tensor("T2", dtype=dtype),))
    (finding,) = check(found, select=["fp32-crossing"])
    assert finding.option == option


@pytest.mark.toolchain
def test_the_option_undoes_the_crossings_of_july_2024(need_toolchain: Callable[[str], str]) -> None:
    toolchain = need_toolchain("nvfuser-0.2.8")
    enabled = capture_rope(
        "Llama-2-13b-hf", device="null", toolchain=toolchain, bookend=False, enable=["io_to_lower_precision"]
    )
    assert enabled.count("pointwise") == 6
    assert check(enabled, select=["fp32-crossing"]) == []
