"""``segscope diff``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segscope import read
from tests.conftest import FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
TODAY = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt"
GPT = FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt"
SUMMARY = (
    "6 kernel groups -> 2; 3 merged, 1 split, 6 moved, 5 appeared, 4 vanished; what they compute differs in detail"
)


def test_what_is_the_same(cli: Cli) -> None:
    done = cli("diff", JULY, FIXTURES / "null_0.2.8_llama2-13b_log_forward.txt")
    assert (done.code, done.out, done.err) == (0, "6 kernel groups -> 6; the same\n", "")


def test_what_differs(cli: Cli) -> None:
    done = cli("diff", JULY, TODAY)
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[:2] == [
        SUMMARY,
        "groups 11 -> 6: pointwise 6 -> 0, no_op 5 -> 0, expr_eval 0 -> 4, resize 0 -> 2",
    ]
    assert "merged: #1, #7 and #10 (pointwise) -> g4 (resize); T23 / T23 and T15 / T15 no longer cross" in lines
    assert "merged: #4, #8 and #9 (pointwise) -> g3 (resize); T40 / T40 and T35 / T35 no longer cross" in lines


def test_of_several_fusions_those_that_differ_are_named(cli: Cli) -> None:
    name = "h200_0.2.36_tiny-llama-1.1b_bookend0{}_forward+backward.txt"
    done = cli("diff", *(FIXTURES / name.format(part) for part in ("", "_resize-off")))
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("fusion")] == ["fusion 0 -> fusion 0", "fusion 1 -> fusion 1"]
    assert "  scheduler changed: g3 (resize) -> g8 (pointwise)" in lines


def test_one_fusion_of_each(cli: Cli) -> None:
    done = cli("diff", GPT, GPT, "--fusion", "1")
    assert (done.code, done.out) == (0, "3 kernel groups -> 3; the same\n")
    done = cli("diff", GPT, TODAY, "--fusion", "1")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"segscope: error: {TODAY}: no fusion 1; the only fusion is 0\n"


def test_half_a_dump_is_no_answer(cli: Cli, tmp_path: Path) -> None:
    lines = JULY.read_text().splitlines(keepends=True)
    half = tmp_path / "half.txt"
    half.write_text("".join(lines[: [n for n, line in enumerate(lines) if "fusion segments" in line][-1] + 40]))
    for pair in ((half, half), (half, JULY), (JULY, half)):
        done = cli("diff", *pair)
        assert (done.code, done.out) == (2, "")
        (line,) = done.err.splitlines()
        assert line.startswith(f"segscope: error: {half}: the dump of fusion 0 is incomplete (line ")
        assert line.endswith("; a diff needs all of it")


def test_a_whole_fusion_beside_half_of_one_is_compared(cli: Cli, tmp_path: Path) -> None:
    cut_off = tmp_path / "cut_off.txt"
    cut_off.write_text(GPT.read_text()[:-2000])
    assert cli("diff", GPT, cut_off).code == 2
    done = cli("diff", GPT, cut_off, "--fusion", "1")
    assert (done.code, done.out) == (0, "3 kernel groups -> 3; the same\n")


def test_markdown(cli: Cli) -> None:
    lines = cli("diff", JULY, TODAY, "--format", "markdown").out.splitlines()
    assert lines[:5] == [f"## {SUMMARY}", "", "| groups | before | after |", "|---|---|---|", "| pointwise | 6 | 0 |"]
    assert lines[8:11] == ["| all | 11 | 6 |", "", "```text"]
    assert lines[-1] == "```"


def test_json(cli: Cli) -> None:
    done = cli("diff", JULY, TODAY, "--format", "json")
    whole = json.loads(done.out)
    assert (done.code, whole["summary"], whole["is_same"], whole["complete"]) == (1, SUMMARY, False, True)
    assert (whole["before"]["kernel_groups"], whole["after"]["kernel_groups"]) == (6, 2)
    (fusion,) = whole["fusions"]
    assert (fusion["before"], fusion["after"]) == (0, 0)
    merged = fusion["changes"][1]
    assert merged["kind"] == "merged"
    assert [place["label"] for place in merged["before"]] == ["#1", "#7", "#10"]
    assert merged["tensors"][0] == {"before": ["T23"], "after": ["T23"]}
    assert json.loads(cli("diff", TODAY, TODAY, "--format", "json").out)["fusions"][0]["changes"] == []


def test_github(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a,b: 100%.txt"
    path.write_text(TODAY.read_text())
    lines = cli("diff", JULY, path, "--format", "github").out.splitlines()
    file = str(path).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    assert lines[0] == f"::notice file={file},line=1,title=segscope diff::{SUMMARY}"
    assert lines[1] == (
        f"::notice file={file},line={read(path).fusion.first_line},title=segscope diff merged::"
        "merged: #0, #2 and #5 (no_op) -> g5 (expr_eval)"
    )
    back = cli("diff", TODAY, JULY, "--format", "github").out
    assert back.startswith(f"::warning file={JULY},line=1,title=segscope diff::2 kernel groups -> 6; ")


def test_a_picture(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "diff.dot"
    done = cli("diff", JULY, TODAY, "--format", "json", "-o", path)
    assert (done.code, done.err) == (1, f"wrote {path} (drawn by segscope)\n")
    assert json.loads(done.out)
    assert path.read_text("utf-8").startswith("digraph diff {")


def test_standard_input(cli: Cli) -> None:
    assert cli("diff", JULY, "-", input=TODAY.read_text()).out.startswith(SUMMARY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((JULY,), "Missing argument 'B'"),
        ((JULY, TODAY, "-o", "diff.html"), "diff.html: the suffix says the format of a diff's picture, one of .svg, "),
        ((JULY, TODAY, "-o", "nowhere/diff.dot"), "nowhere/diff.dot: No such file or directory"),
        ((JULY, "nothing.txt"), "nothing.txt: No such file or directory"),
        ((JULY, TODAY, "--fusion", "7"), "no fusion 7; the only fusion is 0"),
        (("-", "-"), "A and B are both standard input"),
    ],
)
def test_errors_are_one_line(cli: Cli, arguments: tuple[str | Path, ...], message: str) -> None:
    done = cli("diff", *arguments, input="")
    assert done.code == 2
    (line,) = done.err.splitlines()
    assert line.startswith("segscope: error: ")
    assert message in line
