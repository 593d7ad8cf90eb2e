"""``segscope rope``: from one command to counts and a picture, on the null device."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Cli

pytestmark = pytest.mark.toolchain
JULY_2024, TODAY = "nvfuser-0.2.8", "nvfuser-0.2.36"


def test_two_toolchains_side_by_side(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    names = need_toolchain(JULY_2024), need_toolchain(TODAY)
    done = cli("rope", "--no-bookend", "--toolchain", names[0], "--toolchain", names[1], "--out", tmp_path)
    assert done.code == 0, done.err
    table = [line for line in done.out.splitlines() if not line.startswith("wrote ")]
    july, today = (next(line for line in table if name in line) for name in names)
    assert "6 pointwise" in july
    assert "2 resize" in today
    assert done.err.count(" on the null device, as NVIDIA H200 (") == 2
    for name in names:
        folder = tmp_path / name
        assert sorted(path.name for path in folder.iterdir()) == ["capture.json", "dump.txt", "segments.svg"]
        assert "<svg" in (folder / "segments.svg").read_text()
        assert str(folder / "segments.svg") in done.out + done.err
    assert cli("count", tmp_path / JULY_2024 / "capture.json").out == "6\n"
    assert cli("count", tmp_path / JULY_2024 / "dump.txt").out == "6\n"
    assert cli("count", tmp_path / TODAY / "capture.json", "--scheduler", "resize").out == "2\n"


def test_a_crash_is_a_warning(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    toolchain = need_toolchain(JULY_2024)
    done = cli("rope", "--config", "tiny-llama-1.1b", "--no-bookend", "--toolchain", toolchain, "--out", tmp_path)
    assert done.code == 0
    assert "segscope: warning: rope in nvfuser-0.2.8: the child process ended badly (SIGFPE)" in done.err
    assert json.loads((tmp_path / "capture.json").read_text())["provenance"]["end"]["signal"] == "SIGFPE"
    assert cli("count", tmp_path / "dump.txt", "--scheduler", "pointwise").out == "8\n"


def test_two_fusions_are_two_pictures(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    toolchain = need_toolchain(TODAY)
    options = ["--direction", "both", "--disable", "resize_scheduler", "--device", "null", "--card", "a100"]
    done = cli("rope", "--config", "tiny-llama-1.1b", *options, "--toolchain", toolchain, "--out", tmp_path)
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == ["segments-0.svg", "segments-1.svg"]
    provenance = json.loads((tmp_path / "capture.json").read_text())["provenance"]
    assert provenance["environment"]["NVFUSER_DISABLE"] == "resize_scheduler"
    assert "A100" in provenance["card"]


def test_no_dump_keeps_what_the_child_said(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    (tmp_path / "capture.json").write_text("of an earlier run")
    done = cli("rope", "--toolchain", need_toolchain(TODAY), "--disable", "bogus", "--out", tmp_path)
    assert done.code == 2
    error = done.err.splitlines()[-1]
    assert error.startswith("segscope: error: rope in nvfuser-0.2.36: the child process was ended by SIGABRT")
    assert "Invalid option: 'bogus' Available options: " in error
    assert "resize_scheduler" in error
    assert "Invalid option" in (tmp_path / "stderr.txt").read_text()
    assert not (tmp_path / "capture.json").exists()


def test_managed_toolchains_have_no_gpu(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    (tmp_path / "capture.json").write_text("of an earlier run")
    done = cli("rope", "--toolchain", need_toolchain(TODAY), "--device", "cuda", "--out", tmp_path)
    assert done.code == 2
    assert (tmp_path / "capture.json").read_text() == "of an earlier run"
    assert "no GPU code; use --toolchain current with --device cuda" in done.err


def test_a_hidden_gpu_changes_nothing(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    env = {"CUDA_VISIBLE_DEVICES": "-1", "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "NVFUSER_DISABLE": "x"}
    done = cli("rope", "--toolchain", need_toolchain(TODAY), "--out", tmp_path, env=env)
    assert done.code == 0, done.err
    assert "NVFUSER_DISABLE of your environment does not count here: use options" in done.err
    assert cli("count", tmp_path / "dump.txt").out == "2\n"


def test_one_failure_among_several_loses_nothing(
    cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]
) -> None:
    """nvFuser 0.2.8 does not know the option, nvFuser 0.2.36 does; what an earlier run left in the folders goes."""
    july, today = need_toolchain(JULY_2024), need_toolchain(TODAY)
    for name in (july, today):
        (tmp_path / name).mkdir()
        for old in ("segments-0.svg", "capture.json", "stderr.txt"):
            (tmp_path / name / old).write_text("old")
        (tmp_path / name / "notes.md").write_text("mine")
    chains = ["--toolchain", july, "--toolchain", today, "--toolchain", july]
    done = cli("rope", "--disable", "resize_scheduler", *chains, "--out", tmp_path)
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("segscope: error: rope in nvfuser-0.2.8: the child process was ended")
    assert done.err.count("rope in nvfuser-0.2.8 on the null device") == 1
    assert "2 pointwise" in done.out
    written = {name: {path.name for path in (tmp_path / name).iterdir()} for name in (july, today)}
    assert written[july] == {"notes.md", "dump.txt", "stderr.txt"}
    assert written[today] == {"notes.md", "dump.txt", "capture.json", "segments.svg"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_nothing(number: int, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    toolchain = need_toolchain(TODAY)
    command = [sys.executable, "-m", "segscope", "rope", "--toolchain", toolchain, "--out", str(tmp_path / "out")]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    child = subprocess.Popen(
        command,
        env=os.environ | {"TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stderr is not None
    assert "on the null device" in child.stderr.readline()
    while not list(temporary.glob("segscope-*/record.json")):
        assert child.poll() is None
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == (-signal.SIGTERM if number == signal.SIGTERM else 130)
    assert list(temporary.iterdir()) == []
    left = subprocess.run(["pgrep", "-f", str(temporary)], capture_output=True, text=True)
    assert left.stdout == ""


def test_a_toolchain_without_thunder_is_told_before_it_is_installed(cli: Cli, tmp_path: Path) -> None:
    done = cli("rope", "--toolchain", "nvfuser-0.2.0.dev20240316", "--out", tmp_path)
    assert done.code == 2
    assert done.err == (
        "segscope: error: toolchain nvfuser-0.2.0.dev20240316 has no Thunder; "
        "use one that has: see segscope toolchain list\n"
    )


def test_an_unwritable_folder_is_told_before_the_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = cli("rope", "--toolchain", "current", "--out", tmp_path / "file" / "out")
    assert done.code == 2
    assert done.err == f"segscope: error: cannot write to {tmp_path / 'file' / 'out'}: Not a directory\n"
