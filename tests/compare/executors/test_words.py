"""Words for operations of both compilers."""

from __future__ import annotations

import pytest

from segscope.compare.executors.words import is_view, kind

WORDS = {
    "prims.convert_element_type.default": "cast",
    "aten._to_copy.default": "cast",
    "aten.mul.Tensor": "mul",
    "aten.sum.dim_IntList": "reduction",
    "aten.amax.default": "reduction",
    "aten.view.default": "reshape",
    "aten._unsafe_view.default": "reshape",
    "aten.clone.default": "set",
    "aten.slice.Tensor": "slice",
    "aten.split_with_sizes.default": "slice",
    "<built-in function getitem>": "slice",
    "aten.slice_scatter.default": "pad",
    "aten.constant_pad_nd.default": "pad",
    "aten.unsqueeze.default": "broadcast",
    "aten.t.default": "permute",
    "neg": "neg",
    "placeholder": "placeholder",
}
VIEWS = {"reshape", "slice", "broadcast", "permute"}


@pytest.mark.parametrize("operation", WORDS)
def test_words(operation: str) -> None:
    assert kind(operation) == WORDS[operation]


@pytest.mark.parametrize("operation", WORDS)
def test_a_copy_is_no_view(operation: str) -> None:
    assert is_view(operation) == (WORDS[operation] in VIEWS)
