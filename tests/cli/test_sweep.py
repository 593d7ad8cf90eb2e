"""``segscope sweep``: on results that are there, and through the real nvFuser."""

from __future__ import annotations

import contextlib
import csv
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from segscope.cli.sweep import command
from segscope.errors import CaptureError, ToolchainError
from segscope.model import Capture
from segscope.sweep import Point, product, sweep
from tests.conftest import Cli
from tests.sweep import fake

OPTIONS = ("--disable", "none", "--disable", "resize_scheduler")
ALL_FAKE = (
    *("sweep", "rope", "--toolchain", fake.NEW, "--toolchain", fake.MIDDLE, "--toolchain", fake.OLD, *OPTIONS),
    *(argument for config in fake.CONFIGS for argument in ("--config", config)),
)


@pytest.fixture
def done_before(tmp_path: Path) -> Path:
    """A folder with all results of ALL_FAKE; none had no toolchain, since that would be tried again."""

    def in_toolchain(point: Point) -> Capture:
        try:
            return fake.capture(point)
        except ToolchainError as error:
            raise CaptureError(str(error)) from None

    sweep(fake.points(), folder=tmp_path, capture=in_toolchain)
    return tmp_path


def test_what_is_there_is_shown_and_written(cli: Cli, done_before: Path) -> None:
    done = cli(*ALL_FAKE, "--out", done_before)
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[:2] == ["rope Llama-2-13b-hf, h200", "toolchain" + lines[1][9:]]
    assert [line.split()[0] for line in lines[2:5]] == [fake.OLD, fake.MIDDLE, fake.NEW]
    names = ("table.csv", "table.json", "table.parquet", "chart.svg", "chart.html")
    assert lines[-1] == f"wrote {', '.join(str(done_before / name) for name in names)}"
    warnings = done.err.splitlines()
    first = "the first of them rope Llama-2-13b-hf, h200, disable=resize_scheduler in"
    assert [line for line in warnings if "half a dump" not in line] == [
        f"segscope: warning: 4 points, {first} {fake.OLD}: no such option",
        f"segscope: warning: 4 points, {first} {fake.MIDDLE}: no room",
    ]
    assert sum("half a dump" in line for line in warnings) >= 1


def test_points_without_an_option_are_one_warning(cli: Cli, tmp_path: Path) -> None:
    def refuse(point: Point) -> Capture:
        raise CaptureError(f"rope in {point.toolchain}: Invalid option: 'x'    Available options: {point.toolchain}")

    toolchains = (fake.OLD, fake.NEW)
    sweep(product("rope", toolchains=toolchains, disable=["x"]), folder=tmp_path, capture=refuse)
    axes = [argument for name in toolchains for argument in ("--toolchain", name)]
    done = cli("sweep", "rope", *axes, "--disable", "x", "--out", tmp_path)
    first = f"rope Llama-2-13b-hf, h200, disable=x in {fake.OLD}"
    assert done.err == f"segscope: warning: 2 points, the first of them {first}: this nvFuser has no option x\n"


def test_a_narrower_sweep_loses_no_rows(cli: Cli, done_before: Path) -> None:
    cli(*ALL_FAKE, "--out", done_before)
    before = {path: path.read_bytes() for path in done_before.glob("table.*")}
    done = cli("sweep", "rope", "--toolchain", fake.NEW, "--config", "phi-2", "--out", done_before)
    assert done.code == 0
    assert done.out.splitlines()[-1].endswith(f", of all 24 points of rope in {done_before}")
    assert {path: path.read_bytes() for path in before} == before


def test_names_are_whole_in_a_narrow_terminal(done_before: Path) -> None:
    command = [sys.executable, "-m", "segscope", *ALL_FAKE, "--out", str(done_before)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "40"})
    assert done.returncode == 1
    assert "…" not in done.stdout


def test_a_toolchain_that_cannot_be_installed_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def refuse(name: str) -> None:
        tried.append(name)
        raise ToolchainError(f"cannot install toolchain {name}: no room")

    monkeypatch.setattr("segscope.capture.toolchain.ensure", refuse)
    monkeypatch.setattr("segscope.capture.run.ensure", refuse)
    axes = ["--toolchain", "nvfuser-0.2.36", "--config", "phi-2", "--config", "Gemma-7b"]
    done = CliRunner().invoke(command, ["rope", *axes, "--out", str(tmp_path)])
    assert (tried, done.exit_code) == (["nvfuser-0.2.36"], 1)
    lines = done.stderr.splitlines()
    assert len(lines) == 3
    assert [line.split(" ")[1] for line in lines[:2]] == ["1/2", "2/2"]
    assert all(line.endswith(" in nvfuser-0.2.36: not run") for line in lines[:2])
    assert lines[2].startswith("segscope: warning: 2 points, ")
    assert lines[2].endswith(": cannot install toolchain nvfuser-0.2.36: no room")


def test_what_is_there_needs_no_cluster(cli: Cli, done_before: Path) -> None:
    done = cli("sweep", "rope", "--config", "phi-2", "--dask", "tcp://127.0.0.1:9", "--out", done_before)
    assert done.code == 0


def test_only_failures_are_exit_code_1(cli: Cli, done_before: Path) -> None:
    toolchains = ("--toolchain", f"{fake.OLD}", "--toolchain", fake.NEW)
    assert cli("sweep", "rope", *toolchains, "--config", "phi-2", "--out", done_before).code == 0
    assert cli("sweep", "rope", *toolchains, "--config", "Gemma-7b", "--out", done_before).code == 1


def test_a_terminal_is_shown_a_bar(done_before: Path) -> None:
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "segscope", *ALL_FAKE, "--out", str(done_before)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=writer, env=os.environ | {"TERM": "xterm"}
    ) as child:
        os.close(writer)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal's other end was closed
            while read := os.read(reader, 4096):
                shown += read
    os.close(reader)
    assert child.returncode == 1
    assert b"24/24" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rop"], "unknown workload 'rop'; valid: rope, "),
        (["rope", "--config", "phi-3"], "unknown configuration 'phi-3'; valid: "),
        (["rope", "--card", "gtx"], "unknown card 'gtx'; valid: "),
        (["rope", "--toolchain", "nvfuser-9..nvfuser-0.2.8"], "unknown toolchain 'nvfuser-9'"),
        (["slice-rotate-cat", "--config", "phi-2"], "workload slice-rotate-cat has no configurations"),
        (["rope", "--jobs", "0"], "'--jobs': 0 is not in the range"),
        (["rope", "--dask", "nowhere://x"], "no Dask scheduler at nowhere://x"),
        (["rope", "--dask", "tcp://127.0.0.1:9"], "no Dask scheduler at tcp://127.0.0.1:9"),
        (["rope", "--dask", "tcp://127.0.0.1:9", "--jobs", "2"], "--jobs is of this machine"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2(cli: Cli, tmp_path: Path, arguments: list[str], says: str) -> None:
    done = cli("sweep", *arguments, "--out", tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert says in done.err


@pytest.mark.toolchain
def test_a_real_sweep_survives_a_kill(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    toolchains = [need_toolchain(name) for name in ("nvfuser-0.2.36", "nvfuser-0.2.8", "thunder-711")]
    axes = [*OPTIONS, *(argument for name in toolchains for argument in ("--toolchain", name))]
    killed, alone = tmp_path / "killed", tmp_path / "alone"
    children = _killed_after_one_result(["sweep", "slice-rotate-cat", *axes, "--out", str(killed)], killed)
    before = {path: path.stat().st_mtime_ns for path in killed.glob("slice-rotate-cat_*.json")}
    assert len(before) < 6
    again = cli("sweep", "slice-rotate-cat", *axes, "--out", killed)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert again.out == cli("sweep", "slice-rotate-cat", *axes, "--out", killed).out
    there = cli("sweep", "slice-rotate-cat", *axes, "--out", alone)
    assert (again.code, there.code) == (1, 1)
    for name in ("table.csv", "table.json", "table.parquet", "chart.svg", "chart.html"):
        assert (killed / name).read_bytes() == (alone / name).read_bytes()
    rows = _rows(alone)
    assert [(row["toolchain"], row["disable"], row["outcome"], row["kernel_groups"]) for row in rows] == [
        ("nvfuser-0.2.8", "", "ok", "5"),
        ("thunder-711", "", "ok", "5"),
        ("nvfuser-0.2.36", "", "ok", "1"),
        ("nvfuser-0.2.8", "resize_scheduler", "no dump", ""),
        ("thunder-711", "resize_scheduler", "no dump", ""),
        ("nvfuser-0.2.36", "resize_scheduler", "ok", "3"),
    ]
    old, new = (
        next(alone.glob(f"slice-rotate-cat_{name}_h200_????????????????.json")) for name in ("*0.2.8", "*0.2.36")
    )
    changed = cli("diff", old, new)
    assert changed.code == 1
    assert changed.out.startswith("5 kernel groups -> 1;")


def _killed_after_one_result(arguments: list[str], folder: Path) -> list[str]:
    """Kill a sweep as soon as it has a result, and return the ids of its child processes at that moment."""
    with subprocess.Popen([sys.executable, "-m", "segscope", *arguments], stderr=subprocess.PIPE) as sweeping:
        while not list(folder.glob("slice-rotate-cat_*.json")):
            with pytest.raises(subprocess.TimeoutExpired):
                sweeping.wait(0.02)
        tasks = Path(f"/proc/{sweeping.pid}/task").glob("*/children")
        children = [child for task in tasks for child in task.read_text().split()]
        sweeping.kill()
    assert sweeping.returncode == -signal.SIGKILL
    return children


@pytest.mark.toolchain
def test_thunders_rope(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    names = [need_toolchain("nvfuser-0.2.8"), need_toolchain("nvfuser-0.2.36")]
    toolchains = [argument for name in names for argument in ("--toolchain", name)]
    done = cli("sweep", "thunder-rope", *toolchains, "--out", tmp_path)
    assert done.code == 0
    rows = _rows(tmp_path)
    assert [(row["config"], row["pointwise"], row["resize"]) for row in rows] == [
        ("Llama-2-13b-hf", "6", "0"),
        ("Llama-2-13b-hf", "0", "2"),
    ]


def _rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "table.csv").read_text().splitlines()))
