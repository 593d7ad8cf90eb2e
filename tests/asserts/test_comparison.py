"""Counts: plain integers that a failed comparison can explain."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable

import pytest

from segscope import parse
from segscope.asserts.comparison import compared
from segscope.model import Capture
from segscope.model.count import noting
from tests.conftest import FIXTURES

Read = Callable[[str], Capture]
JULY, TODAY = "null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"


@pytest.fixture
def half() -> Capture:
    """The segments of July 2024, cut off in the details of the groups."""
    text = (FIXTURES / f"{JULY}.txt").read_text()
    return parse(text[: text.index("group details:") + 3000])


def test_what_is_counted_is_noted(fixture_capture: Read) -> None:
    july, today = fixture_capture(JULY), fixture_capture(TODAY)
    with noting() as counted:
        july.count()
        today.fusion.count("resize")
        with noting() as inner:
            july.fusion.count("pointwise")
        repr(today)
    july.count()
    assert [id(one) for one in counted] == [id(july), id(today.fusion)]
    assert [id(one) for one in inner] == [id(july.fusion)]


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


def test_half_a_dump_is_told(half: Capture) -> None:
    for counted in (half, half.fusion):
        lines, groups = compared("==", counted.count("pointwise"), 2)
        assert "the dump is incomplete: what is missing is not counted" in lines
        assert "dump incomplete" in groups


def test_other_integers_are_left_to_pytest() -> None:
    assert compared("==", 1, 2) == ([], "")
