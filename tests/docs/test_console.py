"""The check of commands itself: what is wrong in a document is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.console import commands, matches, problems
from tests.docs.documents import Block

DUMP = "fixtures/null_0.2.8_llama2-13b_bookend0_forward.txt"


def console(text: str) -> Block:
    return Block("page.md:7", Path("page.md"), "console", text, (), False)


@pytest.mark.parametrize(
    "text",
    [
        f"$ segscope count {DUMP}\n6\n",
        f"$ segscope count \\\n    {DUMP}\n6\n$ false || echo two\ntwo\n",
        f"$ N=$(segscope count {DUMP})\n$ echo $N\n6\n",
        f"$ segscope show {DUMP}\n...\n#1 ... mul ...\n...\n",
        "$ segscope count missing.txt\nsegscope: error: ...\n",
        f"$ segscope assert {DUMP} 'kernel_groups < 6'\nfalse ...\n...\n",
        "$ segscope toolchain list\n...\nnvfuser-0.2.8 ... not installed ...\n...\n",
    ],
)
def test_what_is_true_passes(text: str, tmp_path: Path) -> None:
    assert problems(console(text), tmp_path) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"$ segscope count {DUMP}\n5\n", "- 5\n+ 6"),
        (f"$ segscope count {DUMP}\n6\n6\n", "- 6"),
        (f"$ segscope count {DUMP} --sheduler no_op\n", "exit code 2"),
        ("$ segscope count missing.txt\n...\n", "exit code 2"),
        (f"$ segscope assert {DUMP} 'kernel_groups < 6'\n", "exit code 1"),
        ("$ printf 'a\\nb\\nc\\n'\na\n...\nb\n", "- ..."),
    ],
)
def test_what_is_not_true_is_told_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    (problem,) = problems(console(text), tmp_path)
    assert problem.startswith("page.md:7: $ ")
    assert said in problem


def test_a_block_is_commands_with_output() -> None:
    assert [tuple(command) for command in commands("$ a \\\n  b\nc \\\nd\n$ e\n")] == [
        ("a \\\n  b", ["c \\", "d"]),
        ("e", []),
    ]
    with pytest.raises(ValueError, match="output without a command: a"):
        commands("a\n$ b\n")


def test_any_lines_and_anything() -> None:
    assert matches(["a", "...", "b... c"], ["a", "x", "y", "b . c"])
    assert matches(["...", "a"], ["a"])
    assert not matches(["a", "b"], ["a", "x", "b"])
    assert not matches(["a.c"], ["abc"])
