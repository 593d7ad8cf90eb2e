"""``segscope capture``: the user's command with what nvFuser prints."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.capture import toolchain
from tests.conftest import FIXTURES, Cli

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"

PROGRAM = """
import sys
try:
    import nvfuser_direct
    nvfuser_direct.compute_tensor_descriptor = nvfuser_direct._C_DIRECT.compute_tensor_descriptor
    sys.modules["nvfuser"] = nvfuser_direct
except ImportError:
    pass
import thunder, torch
from thunder.executors.nvfuserex import nvfuserex

def f(a, b):
    return (a * b).sum(-1)

a = torch.empty(64, 128, device="cuda")
print(sys.argv[1:], torch.cuda.get_device_name(0), flush=True)
thunder.jit(f, executors=[nvfuserex])(a, a)
sys.exit(7)
"""


@pytest.mark.toolchain
@pytest.mark.parametrize("name", ["nvfuser-0.2.36", "nvfuser-0.2.8"])
def test_the_null_device_under_a_command(
    name: str, cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]
) -> None:
    chain = toolchain.find(need_toolchain(name))
    program, out = tmp_path / "program.py", tmp_path / "run.log"
    program.write_text(PROGRAM)
    options = ["--device", "null", "--card", "a100", "--dump", "segmenter_logging", "-o", out]
    done = cli("capture", *options, "--", chain.python, program, "--device", "x")
    assert done.code == 7, done.err
    assert done.out == out.read_text()
    assert done.out.startswith("['--device', 'x'] NVIDIA A100")
    assert done.err.startswith("segscope: python on the null device, as NVIDIA A100")
    assert done.err.splitlines()[-1] == f"segscope: {out}: 1 fusion, 1 kernel group"
    assert "Try to schedule fusion un-segmented" in done.out
    assert cli("count", out, "--scheduler", "reduction").out == "1\n"


def test_a_command_is_run_as_it_is(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    done = cli("capture", "-o", out, "--", "sh", "-c", "cat; echo to-stderr >&2; exit 5", input=JULY.read_text())
    assert done.code == 5
    assert done.out == out.read_text() == JULY.read_text()
    assert done.err == f"to-stderr\nsegscope: {out}: 1 fusion, 6 kernel groups\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--", "true"], "Missing option '-o' / '--out'"),
        (["-o", "{out}"], "Missing argument '-- COMMAND...'"),
        (["-o", "{out}", "--", "no-such-program"], "no-such-program: no such command"),
        (["-o", "{out}/x/y", "--", "true"], "No such file or directory"),
        (["-o", "{out}", "--device", "tpu", "--", "true"], "unknown device 'tpu'; valid: none, null, cuda"),
        (["-o", "{out}", "--device", "null", "--card", "gtx", "--", "true"], "unknown card 'gtx'; valid: a100"),
        (["-o", "-", "--", "true"], "-o names a file; what the command prints goes to standard output as well"),
        (["-o", "{out}", "--card", "l4", "--", "true"], "--card needs --device null"),
        (["-o", "{out}", "--device", "null", "--", "sh", "-c", "true"], "cannot tell which Python sh runs"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: list[str], says: str, cli: Cli, tmp_path: Path) -> None:
    done = cli("capture", *(argument.format(out=tmp_path / "run.log") for argument in arguments))
    assert done.code == 2
    assert done.err.startswith("segscope: error: ")
    assert says in done.err
    assert done.err.count("\n") == 1


TRAPPING = """
import os, signal, sys, time
def stop(number, frame):
    os.write(1, f"got {signal.Signals(number).name}\\n".encode())  # it may come inside the print below
    sys.exit(9)
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), stop)
print("ready", flush=True)
while True:
    signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_reaches_the_command(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    command = [sys.executable, "-m", "segscope", "capture", "-o", str(out), "--", sys.executable, "-c", TRAPPING]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup, say, it is ignored
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        assert child.stdout.read() == f"got {number.name}\n"
        assert child.wait(timeout=60) == 9
    assert out.read_text() == f"ready\ngot {number.name}\n"


def test_output_comes_as_it_is_printed(tmp_path: Path) -> None:
    """The command waits for an answer to what it printed."""
    talk = "read a; echo first; read b; echo $a $b"
    command = [sys.executable, "-m", "segscope", "capture", "-o", str(tmp_path / "run.log"), "--", "sh", "-c", talk]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("one\n")
        assert child.stdout.readline() == "first\n"
        child.stdin.write("two\n")
        assert child.stdout.readline() == "one two\n"


def test_a_reader_that_goes_away_loses_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    capture = f"{sys.executable} -m segscope capture -o {out} -- sh -c 'seq 100000; exit 4'"
    run = f"{capture} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", run], capture_output=True, text=True)
    assert done.stdout == "1\n4\n"
    assert out.read_text().split()[-1] == "100000"


def test_a_terminal_stays_one(tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    ask = "import os, sys; print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty(), *os.get_terminal_size())"
    reader, writer = os.openpty()
    subprocess.run(["stty", "rows", "33", "cols", "99"], stdin=writer, check=True)
    command = [sys.executable, "-m", "segscope", "capture", "-o", str(out), "--", sys.executable, "-c", ask]
    with subprocess.Popen(command, stdin=writer, stdout=writer, stderr=writer) as child:
        os.close(writer)
        assert child.wait(timeout=60) == 0
    assert out.read_text() == "True True True 99 33\n"
    assert os.read(reader, 1000).startswith(b"True True True 99 33\r\n")
    os.close(reader)
