"""``segscope explain`` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
JULY_LOG = FIXTURES / "null_0.2.8_llama2-13b_log_forward.txt"
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_whole_story_of_july_2024(form: str, cli: Cli) -> None:
    done = cli("explain", JULY_LOG, "--headroom", "--format", form)
    assert (done.code, done.err) == (0, "")
    assert done.out == (GOLDEN / f"explain_july.{'md' if form == 'markdown' else 'txt'}").read_text()


def test_json_has_everything(cli: Cli) -> None:
    told = json.loads(cli("explain", JULY, "--headroom", "--format", "json").out)
    (fusion,) = told["fusions"]
    assert told["source"] == str(JULY)
    assert len(fusion["explanation"]["reasons"]) == 18
    assert fusion["headroom"]["kernel_groups"] == 6
    assert [bound["rules"] for bound in fusion["headroom"]["bounds"]] == ["boundary", "boundary", "resize", "resize"]


def test_merges_by_position_and_by_group_id(cli: Cli) -> None:
    done = cli("explain", JULY, "--merge", "#1,10", "--merge", "7,10")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[1:3] == [
        "#1 with #10:",
        "  closes a cycle: #1 -(T8)-> #7 -(T15)-> #10; with #2, #3, #4, #5, #6, #7, #8, #9 along it would not",
    ]
    assert lines[4].startswith("  breaks boundary: pad T16 in #10 reads T15")
    today = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt"
    assert cli("explain", today, "--merge", "g4,g3").out == cli("explain", today, "--merge", "4,3").out
    assert "closes no cycle and breaks no rule" in cli("explain", today, "--merge", "4,3").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--merge", "3"], "name at least two groups to merge"),
        (["--merge", "3,99"], "no group '99' in fusion 0; valid: #0, #1"),
        (["--merge", ""], "no group '' in fusion 0"),
        (["--verify"], "--verify needs --headroom"),
        (["--seconds", "3"], "--seconds needs --headroom"),
        (["--headroom", "--toolchain", "nvfuser-0.2.8"], "--toolchain needs --verify"),
        (["--headroom", "--device", "null"], "--device needs --verify"),
        (["--fusion", "7"], "no fusion 7; the only fusion is 0"),
    ],
)
def test_errors_are_one_line(arguments: list[str], message: str, cli: Cli) -> None:
    done = cli("explain", JULY, *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.toolchain
def test_nvfuser_is_asked(cli: Cli, need_toolchain: Callable[[str], str]) -> None:
    done = cli("explain", JULY, "--headroom", "--verify", "--toolchain", need_toolchain("nvfuser-0.2.8"))
    assert done.code == 0
    for name in ("T15", "T35", "T48", "T52"):
        assert f"boundary, connected: the kernel of {name}: pointwise accepts it" in done.out
    assert "resize, connected: the kernel of T48: transpose and pointwise refused: First input of PadOp" in done.out


def test_a_merge_is_of_one_fusion(cli: Cli) -> None:
    several = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"
    done = cli("explain", several, "--merge", "0,1")
    assert (done.code, done.out) == (2, "")
    assert "--merge names groups of one fusion, and here are 18: name it with --fusion" in done.err
