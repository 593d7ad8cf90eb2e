"""``segscope bisect``: on results of nvFuser's history that are there, and in real toolchains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.sweep import product, sweep
from tests.conftest import Cli
from tests.sweep.history import from_history

FIRST, LAST = "nvfuser-0.2.0.dev20240316", "nvfuser-0.2.35.dev20260115"
BEFORE, AFTER = "nvfuser-0.2.24.dev20250115", "nvfuser-0.2.25.dev20250201"
TWO = ("--expect", "kernel_groups <= 2")


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A folder with the result of every toolchain between, of which some are failures."""
    sweep(product("rope", toolchains=[f"{FIRST}..{LAST}"]), folder=tmp_path, capture=from_history)
    return tmp_path


def test_the_neighbours_are_found(cli: Cli, history: Path) -> None:
    done = cli("bisect", "rope", "--good", LAST, "--bad", FIRST, *TWO, "--out", history)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == [f"good  {LAST}: kernel_groups is 2", f"bad   {FIRST}: kernel_groups is 6"]
    assert any(line.startswith("skip  ") and line.endswith(" is kept") for line in lines)
    assert lines[-2] == f"kernel_groups <= 2: between {BEFORE} (2025-01-15) and {AFTER} (2025-02-01)"
    command, *files = lines[-1].removeprefix("what changed: segscope ").split()
    changed = cli(command, *files)
    assert changed.code == 1
    assert changed.out.startswith("4 kernel groups -> 2;")


def test_good_may_be_older(cli: Cli, history: Path) -> None:
    done = cli("bisect", "rope", "--good", FIRST, "--bad", LAST, "--expect", "kernel_groups >= 4", "--out", history)
    assert done.code == 0
    assert f"kernel_groups >= 4: between {BEFORE} (2025-01-15) and {AFTER} (2025-02-01)\n" in done.out


def test_what_cannot_be_had_between_is_said(cli: Cli, history: Path) -> None:
    expected = "no_op > 0"
    done = cli("bisect", "rope", "--good", AFTER, "--bad", LAST, "--expect", expected, "--out", history)
    assert done.code == 0
    assert "no_op > 0: between nvfuser-0.2.25.dev20250201 (2025-02-01) and nvfuser-0.2.27.dev20250415" in done.out
    between = "nvfuser-0.2.26.dev20250215, nvfuser-0.2.26.dev20250302, nvfuser-0.2.27.dev20250401"
    assert f"that is as near as it gets: nothing can be said of {between}\n" in done.out


def test_ends_that_do_not_differ_are_exit_code_1(cli: Cli, history: Path) -> None:
    done = cli("bisect", "rope", "--good", AFTER, "--bad", LAST, *TWO, "--out", history)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[-1] == f"{LAST} was said to be bad, and is good"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rope", "--good", LAST, "--bad", FIRST, "--expect", "kernel_groups <="], "column 17: expected a number"),
        (["rope", "--good", LAST, "--bad", FIRST, "--expect", "kernels <= 2"], "unknown name 'kernels'; valid: "),
        (["rope", "--good", LAST, "--bad", FIRST, "--expect", "findings(x) > 0"], "unknown rule 'x'; valid: "),
        (["rope", "--good", "thunder-711", "--bad", LAST, *TWO], "toolchain thunder-711 is of an old Thunder"),
        (["rope", "--good", LAST, "--bad", LAST, *TWO], "good and bad are the same toolchain"),
        (["rope", "--good", "current", "--bad", LAST, *TWO], "toolchain current has no date"),
        (["rope", "--good", "nvfuser-9", "--bad", LAST, *TWO], "unknown toolchain 'nvfuser-9'"),
        (["rop", "--good", LAST, "--bad", FIRST, *TWO], "unknown workload 'rop'; valid: rope, "),
        (["rope", "--good", LAST, "--bad", "nvfuser-0.2.8", *TWO], "the bad end nvfuser-0.2.8 cannot be had: no dump"),
        (["rope", "--good", LAST, *TWO], "Missing option '--bad'"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2(cli: Cli, history: Path, arguments: list[str], says: str) -> None:
    done = cli("bisect", *arguments, "--out", history)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert says in done.err


@pytest.mark.parametrize("expected", ["kernels <= 2", "findings(x) > 0"])
def test_a_name_that_means_nothing_is_told_before_anything_runs(cli: Cli, tmp_path: Path, expected: str) -> None:
    out = tmp_path / "out"
    assert cli("bisect", "rope", "--good", LAST, "--bad", FIRST, "--expect", expected, "--out", out).code == 2
    assert not out.exists()


def test_findings_are_counted(cli: Cli, history: Path) -> None:
    done = cli("bisect", "rope", "--good", FIRST, "--bad", LAST, "--expect", "findings < 0", "--out", history)
    assert done.code == 1


@pytest.mark.toolchain
def test_real_ends_that_do_not_differ(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    good, bad = need_toolchain("nvfuser-0.2.36"), need_toolchain("nvfuser-0.2.8")
    done = cli("bisect", "rope", "--good", good, "--bad", bad, "--expect", "kernel_groups > 1", "--out", tmp_path)
    assert done.code == 1
    assert done.out.splitlines() == [
        f"good  {good}: kernel_groups is 2",
        f"good  {bad}: kernel_groups is 6",
        "",
        f"{bad} was said to be bad, and is good",
    ]


@pytest.mark.toolchain
def test_four_became_two_but_not_without_casts(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    for name in (BEFORE, AFTER):
        need_toolchain(name)
    ends = ("--good", AFTER, "--bad", BEFORE, *TWO, "--out", tmp_path)
    assert cli("bisect", "rope", *ends).code == 0
    done = cli("bisect", "rope-float32", *ends)
    assert (done.code, done.out.splitlines()[0]) == (1, f"bad   {AFTER}: kernel_groups is 4")
    other = cli(
        "bisect", "rope-float32", "--good", BEFORE, "--bad", AFTER, "--expect", "kernel_groups == 4", *ends[-2:]
    )
    assert (other.code, other.out.splitlines()[-1]) == (1, f"{AFTER} was said to be bad, and is good")
