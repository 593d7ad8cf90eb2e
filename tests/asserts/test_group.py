"""What one group is like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from segscope import SegscopeError
from segscope.asserts import assert_group
from segscope.model import Capture
from tests.asserts.failing import failing

Read = Callable[[str], Capture]
JULY, TODAY = "null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"


def test_what_holds(fixture_capture: Read) -> None:
    """What nvFuser's own C++ tests ask of a group."""
    july, today = fixture_capture(JULY), fixture_capture(TODAY)
    assert_group(today, "neg", scheduler="resize", kernel=True, inputs="<=5", outputs=">=1")
    assert_group(july, "#7", inputs=1, outputs=["T15"], input_dtypes="bfloat16", output_dtypes=["bfloat16", "float32"])
    assert_group(july, "#7", inputs=["T8"], operations={"slice": 1, "cast": 2, "neg": "!=0", "others": 0})
    assert_group(july, "neg", first="slice", not_first=["neg", "cast"])
    assert_group(july, "T18", operations={"pad": 4, "unary": 0, "others": "<=7"})
    assert_group(july, "no_op", kernel=False)
    assert_group(july, "#7", operations={"op:neg": 1, "op:cast": 2, "slice": 1, "others": 0}, first="op:slice")
    none = ["sinf", "matmul", "reduction", "Set.Permute", "__half2float", "(float)", "cast to half", "/", "div", "cat"]
    assert_group(july, "#7", operations=dict.fromkeys(none, 0), not_first=none)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"scheduler": "resize"}, "asked for scheduler resize in #7, selected by T15, found pointwise"),
        ({"kernel": False}, "asked for no kernel in #7, selected by T15, found one"),
        ({"inputs": 2}, "asked for 2 inputs in #7, selected by T15, found 1: T8"),
        ({"inputs": ["T8", "T9"]}, "asked for inputs T8 and T9 in #7, selected by T15, found T8"),
        ({"outputs": []}, "asked for no outputs in #7, selected by T15, found T15"),
        ({"output_dtypes": "float32"}, "asked for outputs of float32 in #7, selected by T15, found T15 of __bfloat"),
        ({"operations": {"cast": "<2"}}, "asked for <2 cast in #7, selected by T15, found 2"),
        (
            {"operations": {"cast": 2, "others": 1}},
            "asked for 1 other operations in #7, selected by T15, found 2: slice T12 and - T14",
        ),
        ({"first": "cat"}, "asked for cat first in #7, selected by T15, found no cat"),
        ({"first": "neg"}, "asked for neg first in #7, selected by T15, found - T14 after other operations"),
        ({"not_first": "slice"}, "asked for no slice first in #7, selected by T15, found slice T12 first"),
    ],
)
def test_what_does_not(asked: dict[str, Any], says: str, fixture_capture: Read) -> None:
    assert failing(assert_group, fixture_capture(JULY), "T15", **asked).splitlines()[0] == says


def test_each_group_that_is_selected_must_be_so(fixture_capture: Read) -> None:
    lines = failing(assert_group, fixture_capture(JULY), "cat", inputs=5, operations={"cat": 3}).splitlines()
    assert lines[:2] == ["asked for 3 cat in #9, selected by cat, found 2", "#10: asked for 3 cat, found 2"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "say what the group is like"),
        ({"scheduler": "resise"}, "unknown scheduler 'resise'"),
        ({"input_dtypes": "bf16"}, "unknown dtype 'bf16'"),
        ({"inputs": "T8"}, "'T8' is no number and no bound"),
        ({"operations": {"ct": 0}}, "unknown operation 'ct'; operations here: reshape · permute · 9 slice · "),
        ({"operations": {"ct": "<=2"}}, "unknown operation 'ct'"),
        ({"operations": {"op:ct": 0}}, "unknown operation 'op:ct'"),
        ({"operations": {"cast to float32": 0}}, "unknown operation 'cast to float32'"),
        ({"operations": {3: 0}}, "unknown operation 3"),
        ({"not_first": "pda"}, "unknown operation 'pda'"),
        ({"first": ["slice", ""]}, "unknown operation ''"),
        ({"operations": {}}, "operations is empty"),
        ({"first": []}, "first is empty"),
        ({"not_first": ""}, "not_first is empty"),
        ({"input_dtypes": ()}, "input_dtypes is empty"),
        ({"output_dtypes": []}, "output_dtypes is empty"),
    ],
)
def test_what_is_an_error(asked: dict[str, Any], says: str, fixture_capture: Read) -> None:
    with pytest.raises(SegscopeError, match=says):
        assert_group(fixture_capture(JULY), "T15", **asked)
