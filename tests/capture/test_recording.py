"""Recording in this process: whatever is printed on file descriptor 1."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope import CaptureError, SegscopeError, record
from segscope.capture import toolchain
from segscope.capture.device import choose
from tests.conftest import FIXTURES

JULY = (FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt").read_bytes()
TODAY = (FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt").read_bytes()


def show(data: bytes) -> None:
    """Print as C++ does, through a buffer of the C library's own."""
    assert ctypes.CDLL(None).printf(b"%s", data) == len(data)


def test_what_is_printed_is_recorded_and_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    with record() as recording:
        print("before", flush=True)
        show(JULY)
        os.write(1, b"after\n")
    assert recording.capture.fusion.count("pointwise") == 6
    assert recording.capture.dump == recording.text
    assert recording.capture is recording.capture
    text = capfd.readouterr().out
    assert JULY.decode() in text
    assert "before\n" in text


def test_nested_blocks_see_what_is_printed_in_them(capfd: pytest.CaptureFixture[str]) -> None:
    with record() as outer:
        show(JULY)
        with record() as inner:
            show(TODAY)
        os.write(1, b"end\n")
    assert [fusion.count("resize") for fusion in inner.capture.fusions] == [2]
    assert [fusion.count("resize") for fusion in outer.capture.fusions] == [0, 2]
    assert capfd.readouterr().out == outer.text == (JULY + TODAY).decode() + "end\n"


def test_an_exception_passes_and_loses_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    recordings = []

    def fail() -> None:
        with record() as recording:
            recordings.append(recording)
            show(JULY)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert recordings[0].capture.count() == 6
    assert capfd.readouterr().out == JULY.decode()


def test_what_is_printed_outside_is_not_recorded(capfd: pytest.CaptureFixture[str]) -> None:
    show(b"outside\n")
    with record() as recording:
        show(JULY)
    show(b"behind\n")
    ctypes.CDLL(None).fflush(None)
    assert recording.text == JULY.decode()
    assert capfd.readouterr().out == f"outside\n{JULY.decode()}behind\n"


def test_a_recording_is_read_after_its_block() -> None:
    with record() as recording, pytest.raises(SegscopeError, match="not finished: ask for it after the with block"):
        _ = recording.capture


@pytest.mark.parametrize("present", [None, "cuda_kernel", "segmented_fusion,fusion_ir"])
def test_the_variable_is_set_inside_only(present: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NVFUSER_DUMP", raising=False)
    if present is not None:
        monkeypatch.setenv("NVFUSER_DUMP", present)
    with record():
        inside = os.environ["NVFUSER_DUMP"].split(",")
    assert inside.count("segmented_fusion") == 1
    assert set(inside) >= set(present.split(",") if present else ())
    assert os.environ.get("NVFUSER_DUMP") == present


IN_A_FRESH_PROCESS = """
import os, sys
from types import ModuleType
from segscope import CaptureError, record
def block(data=b""):
    with record() as recording:
        os.write(1, data)
    try:
        print(recording.capture.count(), file=sys.stderr)
    except CaptureError as error:
        print(error, file=sys.stderr)
dump = open(sys.argv[1], "rb").read()
{body}
"""


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("block()", ["nvFuser was not used in this process"]),
        ("sys.modules['nvfuser'] = ModuleType('nvfuser'); block()", ["reads NVFUSER_DUMP once a process"]),
        (
            "sys.modules['nvfuser_direct'] = ModuleType('x'); block(dump); block()",
            ["6", "compiled no fusion in the block"],
        ),
        (
            "os.environ['NVFUSER_DUMP'] = 'segmented_fusion'; sys.modules['nvfuser'] = ModuleType('x'); block()",
            ["compiled no fusion in the block"],
        ),
    ],
)
def test_nothing_recorded_says_why(body: str, says: list[str], tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_bytes(JULY)
    env = {name: value for name, value in os.environ.items() if name != "NVFUSER_DUMP"}
    program = IN_A_FRESH_PROCESS.format(body=body)
    done = subprocess.run([sys.executable, "-c", program, str(dump)], capture_output=True, text=True, env=env)
    lines = done.stderr.splitlines()
    assert len(lines) == len(says), done.stderr
    assert all(part in line for part, line in zip(says, lines, strict=True)), lines


def test_nothing_recorded_is_an_error_with_what_was_printed() -> None:
    with record() as recording:
        os.write(1, b"hello\n")
    with pytest.raises(CaptureError, match="nothing recorded: ") as caught:
        _ = recording.capture
    assert caught.value.output == "hello\n"


@pytest.mark.parametrize("options", [[], ["-s"], ["--capture=sys"], ["--capture=tee-sys"]])
def test_under_every_way_of_capturing_of_pytest(options: list[str], tmp_path: Path) -> None:
    dump = tmp_path / "dump.txt"
    dump.write_bytes(JULY)
    (tmp_path / "test_it.py").write_text(
        f"""
import os, segscope
def test_it():
    with segscope.record() as recording:
        os.write(1, open({str(dump)!r}, "rb").read())
    assert recording.capture.count() == 6
"""
    )
    path = os.pathsep.join([str(FIXTURES.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(tmp_path / "test_it.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path})
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert (JULY.decode() in done.stdout) == bool(options)


COMPILE = """
import os, sys
{before}
try:
    import nvfuser_direct as nvfuser
except ImportError:
    import nvfuser
import torch
def compile(n):
    x = torch.empty([4] * n, device="cuda")
    with nvfuser.FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.from_pytorch(x)))
    fd.execute([x])
{after}
"""
SET = "os.environ['NVFUSER_DUMP'] = 'segmented_fusion'"


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("before", "after", "july_2024", "today"),
    [
        (SET, "compile(1)", 1, 1),
        ("", f"{SET}; compile(1)", 0, 1),
        ("", f"compile(1); {SET}; compile(2)", 0, 0),
        (SET, "compile(1); del os.environ['NVFUSER_DUMP']; compile(2)", 2, 2),
    ],
)
def test_when_nvfuser_reads_the_variable(
    before: str, after: str, july_2024: int, today: int, need_toolchain: Callable[[str], str]
) -> None:
    """The facts behind ``record``: in 2024 when it is imported, today when it first compiles, and then never again."""
    for name, dumps in (("nvfuser-0.2.8", july_2024), ("nvfuser-0.2.36", today)):
        chain = toolchain.find(need_toolchain(name))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("NVFUSER_", "PYTHON"))}
        environment = choose("null", name, "h200").environment(kept, chain)
        command = [str(chain.python), "-c", COMPILE.format(before=before, after=after)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("} //Segmented_Fusion") == dumps, name
