"""The example, on both toolchains: red on nvFuser of July 2024, green on today's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.home import home

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.toolchain

EXAMPLE = Path(__file__).with_name("test_rope.py")
GOLDEN = Path(__file__).with_name("july_2024.txt")
STARTS, ENDS = "    def test_one_kernel_for_q_and_one_for_k", "test_rope.py:"
HOME = str(home())


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], pytest.RunResult]:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("SEGSCOPE_HOME", HOME)  # pytester changes HOME
    pytester.makefile(".ini", pytest="[pytest]\nmarkers =\n  toolchain: of segscope's own tests\n")
    pytester.makepyfile(test_rope=EXAMPLE.read_text())

    def run(toolchain: str) -> pytest.RunResult:
        options = ("--segscope-require", "--segscope-toolchain", toolchain)
        return pytester.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider", *options)

    return run


def test_today_it_is_green(run: Callable[[str], pytest.RunResult], need_toolchain: Callable[[str], str]) -> None:
    run(need_toolchain("nvfuser-0.2.36")).assert_outcomes(passed=3)


def test_in_july_2024_it_is_red(run: Callable[[str], pytest.RunResult], need_toolchain: Callable[[str], str]) -> None:
    """The message that the first test fails with, as it is shown."""
    result = run(need_toolchain("nvfuser-0.2.8"))
    result.assert_outcomes(failed=3)
    lines = result.outlines
    start, end = (next(n for n, line in enumerate(lines) if line.startswith(text)) for text in (STARTS, ENDS))
    shown = [line.rstrip() for line in lines[start:end]]
    assert "\n".join(shown).rstrip() + "\n" == GOLDEN.read_text()
