"""The regression test that NVIDIA/Fuser#2599 would have wanted: RoPE takes one kernel for Q and one for K.

    pytest tests/examples/test_rope.py                                      # nvFuser of today
    pytest tests/examples/test_rope.py --segscope-toolchain nvfuser-0.2.8   # of July 2024: six kernels

It needs no GPU: the toolchain's real nvFuser segments the fusion on the null device.
"""

import pytest

from segscope.testing import Segscope

pytestmark = [pytest.mark.segscope(card="h200"), pytest.mark.toolchain]


def test_one_kernel_for_q_and_one_for_k(segscope: Segscope) -> None:
    rope = segscope.rope("Llama-2-13b-hf", bookend=False)
    segscope.assert_kernel_groups(rope, "<=2")


def test_the_rotated_half_is_joined_where_it_is_negated(segscope: Segscope) -> None:
    rope = segscope.rope("Llama-2-13b-hf", bookend=False)
    segscope.assert_same_group(rope, "neg", "cat", "mul", "add")


def test_no_kernel_passes_float32_that_is_only_a_cast(segscope: Segscope) -> None:
    rope = segscope.rope("Llama-2-13b-hf", bookend=False)
    segscope.assert_no_findings(rope, select="fp32-crossing")
