"""Counts: plain integers that a failed comparison can explain."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable

from segscope.asserts.comparison import compared
from segscope.model import Capture

Read = Callable[[str], Capture]
JULY, TODAY = "null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"


def test_a_count_is_an_int_in_everything(fixture_capture: Read) -> None:
    count = fixture_capture(JULY).fusion.count("pointwise")
    assert (repr(count), str(count), f"{count:>3}", json.dumps(count)) == ("6", "6", "  6", "6")
    assert (count, hash(count), sorted([7, count, 5])) == (6, hash(6), [5, 6, 7])
    for other in (pickle.loads(pickle.dumps(count)), copy.copy(count), copy.deepcopy([count])[0], count + 0):
        assert (type(other), other) == (int, 6)


def test_what_is_compared(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    lines, groups = compared("==", july.fusion.count("pointwise"), 2)
    assert lines == ["6 == 2", "6 pointwise groups in fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups"]
    assert groups.startswith("fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups\ngroup  scheduler")
    lines, groups = compared("<=", july.count(), fixture_capture(TODAY).count())
    today = fixture_capture(TODAY).source
    assert lines == ["6 <= 2", f"6 kernel groups in {july.source}", f"2 kernel groups in {today}"]
    assert groups.count("\ngroup  scheduler") == 2


def test_none_of_a_scheduler_says_which_there_are(fixture_capture: Read) -> None:
    lines, _ = compared("==", 2, fixture_capture(TODAY).fusion.count("pointwise"))
    assert lines[0] == "2 == 0"
    assert lines[-1] == "no pointwise group here; the kernel groups are 2 resize"
    lines, _ = compared("==", fixture_capture(TODAY).fusion.count("resize"), 3)
    assert len(lines) == 2


def test_other_integers_are_left_to_pytest() -> None:
    assert compared("==", 1, 2) == ([], "")
