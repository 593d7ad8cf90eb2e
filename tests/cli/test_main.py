"""The command line as a whole: help, errors, exit codes, and what it loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
HEAVY = ["torch", "nvfuser", "nvfuser_direct", "thunder", "graphviz", "elftools", "rich", "pydantic"]


@pytest.mark.parametrize(
    "code",
    [
        "import segscope",
        "import segscope.capture",
        "from segscope.cli import main; sys.argv = ['segscope', '--help']; main()",
        "from segscope.cli import main; sys.argv = ['segscope', 'rope', '--help']; main()",
    ],
)
def test_starting_is_light(code: str, tmp_path: Path) -> None:
    script = f"""
import atexit, sys
atexit.register(lambda: print("LOADED", *[name for name in {HEAVY!r} if name in sys.modules]))
{code}
"""
    env = {"SEGSCOPE_HOME": str(tmp_path), "PYTHONPATH": str(FIXTURES.parent)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["LOADED"]
    assert list(tmp_path.iterdir()) == []


def test_help_lists_the_commands(cli: Cli) -> None:
    done = cli("--help")
    assert done.code == 0
    for name in ("rope", "count", "show", "check", "render", "toolchain"):
        assert f"\n  {name} " in done.out


def test_version(cli: Cli) -> None:
    assert cli("--version").out.startswith("segscope, version ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cuont", "x"], "No such command 'cuont'"),
        (["cuont", "x"], "valid: rope, "),
        (["count", "--bogus", "x"], "no such option --bogus; valid: --fusion, --help, --scheduler"),
        (["count"], "Missing argument 'FILE'"),
        (["count", "x", "--fusion", "two"], "'two' is not a valid integer"),
        (["count", "nowhere.txt"], "nowhere.txt: No such file or directory"),
        (["count", JULY, "--scheduler", "pointwize"], "unknown scheduler 'pointwize'; valid: no_op, pointwise, resize"),
        (["count", JULY, "--fusion", "1"], "no fusion 1; the only fusion is 0"),
        (["rope", "--config", "Llama-5"], "unknown configuration 'Llama-5'; valid: Llama-2-7b-hf, Llama-2-13b-hf"),
        (["rope", "--toolchain", "nvfuser-9"], "nvfuser-0.2.36"),
        (["rope", "--device", "tpu"], "unknown device 'tpu'; valid: auto, cuda, null"),
        (["rope", "--card", "gtx"], "h200"),
        (["rope", "--direction", "up"], "unknown direction 'up'; valid: forward, backward, both"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(cli: Cli, arguments: list[str | Path], says: str) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("segscope: error: ")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_no_arguments_is_help_and_exit_code_2(cli: Cli) -> None:
    done = cli()
    assert done.code == 2
    assert "Usage: " in done.err


@pytest.mark.parametrize("command", ["show", "show --json", "count"])
def test_a_closed_pipe_is_no_traceback(command: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "segscope", *command.split(), JULY], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("command", [f"count {JULY}", f"show {JULY}", f"show --json {JULY}", "--help"])
def test_a_full_disk_is_one_line(command: str) -> None:
    run = f"{sys.executable} -m segscope {command} > /dev/full"
    done = subprocess.run(["bash", "-c", run], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "segscope: error: standard output: No space left on device\n")


def test_closed_descriptors_are_no_traceback() -> None:
    for run in (f"count {JULY} >&-", "count - <&-"):
        done = subprocess.run(["bash", "-c", f"{sys.executable} -m segscope {run}"], capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 2)


def test_a_text_for_a_path_is_told_so(cli: Cli) -> None:
    done = cli("count", JULY.read_text()[:3000])
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "this is a text of several lines, not a path" in done.err
