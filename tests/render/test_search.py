from __future__ import annotations

import pytest

from segscope.errors import RenderError
from segscope.render.search import found_in


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("b", [1, 2]), ("^b", [1]), ("", [0, 1, 2]), ("(?i)B$", [1, 2]), ("x", []), ("[[]", []), ("(?a:\\w)", [0, 1, 2])],
)
def test_positions(pattern: str, found: list[int]) -> None:
    assert found_in(pattern, ["a", "b", "ab"]) == found


@pytest.mark.parametrize(
    "pattern", ["(", "*", "[z-a]", "(?P<n>a)(?P<n>b)", "a{99999999999999999999}", "(" * 5000 + ")" * 5000, "\\"]
)
def test_what_is_no_regular_expression_is_one_line(pattern: str) -> None:
    with pytest.raises(RenderError, match="is no regular expression: ") as refused:
        found_in(pattern, ["a"])
    assert "\n" not in str(refused.value)


def test_a_pattern_that_takes_too_long_is_ended() -> None:
    with pytest.raises(RenderError, match=r"takes longer than 1 s: nest no repeats as in \(a\+\)\+"):
        found_in("(a+)+b", ["a" * 60], timeout=1)


def test_any_text_can_be_searched() -> None:
    assert found_in("é", ["é\x00\n", "\ud800", "x" * 1_000_000]) == [0]
