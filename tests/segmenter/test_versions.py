"""Which version does what, and what a dump tells of its version."""

from __future__ import annotations

import pytest

from segscope.errors import SegscopeError
from segscope.segmenter import version, version_told_by
from tests.segmenter.exact import one


def test_a_version_has_what_came_before_it_and_not_what_came_after() -> None:
    assert version("0.2.8").steps == frozenset()
    assert version("nvfuser-0.2.25.dev20250201").steps == version("0.2.25").steps
    assert "cast_sequences" in version("0.2.25.dev20250201")
    assert "cast_sequences" not in version("0.2.25.dev20250131")
    assert version("0.2.27.dev20250415").steps < version("0.2.27").steps < version("0.2.36").steps


def test_a_version_between_two_has_what_the_earlier_one_has() -> None:
    assert version("0.2.12").steps == version("0.2.9").steps
    assert version("7.0").steps == version("0.2.36").steps
    assert version("0.2.36+git81c4b22").steps == version("0.2.36").steps


@pytest.mark.parametrize("name", ["0.2.37", "0.2.36.dev20260315", "1.0"])
def test_a_version_that_is_not_known_yet_says_so(name: str) -> None:
    assert version(name).newest == version(name).having("resize_scheduler", False).newest == "0.2.36.dev20260301"


@pytest.mark.parametrize("name", ["0.2.8", "0.2.36", "0.2.36.dev20260301", "0.2.36+git81c4b22"])
def test_a_version_that_is_known_needs_no_other(name: str) -> None:
    assert version(name).newest == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("july", "'july' is no version of nvFuser; write 0.2.8"),
        ("0.0.22", "nvFuser 0.0.22 is older than the segmenters"),
    ],
)
def test_what_is_no_known_version_is_an_error(name: str, said: str) -> None:
    with pytest.raises(SegscopeError, match=said):
        version(name)


def test_a_step_can_be_taken_away_as_an_option_does() -> None:
    today = version("0.2.36")
    assert "resize_scheduler" not in today.having("resize_scheduler", False)
    assert today.having("resize_scheduler", False).having("resize_scheduler", True) == today
    with pytest.raises(SegscopeError, match="unknown step 'resize'; known: aliases_behind_hints"):
        today.having("resize", True)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("null_0.2.8_llama2-13b_bookend0_forward", "0.2.8"),
        ("null_0.2.9_llama2-13b_bookend0_forward", "0.2.9"),
        ("h200_0.2.36_Llama-2-13b-hf_bookend0_forward", "0.2.36"),
    ],
)
def test_a_dump_tells_its_version_by_its_form(name: str, told: str) -> None:
    assert version_told_by(one(name)).steps == version(told).steps


def test_a_dump_without_resize_groups_tells_that_the_scheduler_was_off() -> None:
    off = version_told_by(one("h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward"))
    assert off.steps == version("0.2.36").steps - {"resize_scheduler"}
