"""``over-segmented``: real captures of July 2024 (more than needed) and of today (as few as can be)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope.checks import check
from segscope.model import Capture

Fixture = Callable[[str], Capture]


def test_july_2024_has_six_where_four_would_do(fixture_capture: Fixture) -> None:
    july = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    (finding,) = check(july, select=["over-segmented"])
    assert finding.message == "6 kernel groups where 4 would do: those of {T15}, {T48}, {T35} and {T52}"
    assert finding.groups == (1, 4, 7, 8, 9, 10)
    assert finding.severity == "note"


@pytest.mark.parametrize(
    "name",
    [
        "h200_0.2.36_Llama-2-13b-hf_bookend0_forward",
        "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward",
        "h200_0.2.36_tiny-llama-1.1b_bookend0_resize-off_forward+backward",
    ],
)
def test_as_few_as_can_be(name: str, fixture_capture: Fixture) -> None:
    """The last one has fewer than connected groups allow: nvFuser joins groups over inputs that they share."""
    assert check(fixture_capture(name), select=["over-segmented"]) == []
