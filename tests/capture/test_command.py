"""Commands of the user's: what they print, how they end, and what they run on."""

import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from segscope.capture import toolchain
from segscope.capture.command import capture_command, summary
from segscope.capture.options import merged, words
from segscope.capture.users_python import toolchain_of
from segscope.errors import CaptureError, DeviceError
from tests.conftest import FIXTURES

JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"


def test_output_passes_through_and_is_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run.log"
    code = capture_command(["bash", "-c", f"cat {JULY}; echo problem >&2; exit 3"], out=out)
    printed = capfd.readouterr()
    assert code == 3
    assert printed.out == out.read_text() == JULY.read_text()
    assert printed.err == "problem\n"
    assert summary(out) == f"{out}: 1 fusion, 6 kernel groups"


@pytest.mark.parametrize(("name", "code"), [("SEGV", 139), ("TERM", 143), ("KILL", 137)])
def test_a_signal_is_128_and_its_number(name: str, code: int, tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    assert capture_command(["sh", "-c", f"echo before; kill -{name} $$"], out=out) == code
    assert out.read_text() == "before\n"


def test_a_closed_pipe_ends_what_writes_to_it_as_in_a_shell(tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    assert capture_command(["bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"], out=out) == 0
    assert out.read_text() == "y\n141\n"


def test_a_script_that_names_no_interpreter_is_the_shells(tmp_path: Path) -> None:
    out, script = tmp_path / "run.log", tmp_path / "script"
    script.write_text('echo "$0 $1"; exit 3\n')
    script.chmod(0o755)
    assert capture_command([str(script), "a b"], out=out) == 3
    assert out.read_text() == f"{script} a b\n"


def test_what_is_no_program_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script"
    script.write_text("#!/nowhere/python\n")
    script.chmod(0o755)
    assert capture_command([str(script)], out=tmp_path / "run.log") == 126
    assert capfd.readouterr().err == f"segscope: error: {script}: No such file or directory\n"


def test_a_full_disk_is_told_as_that_of_the_file() -> None:
    with pytest.raises(CaptureError, match=r"^cannot write /dev/full: No space left on device$"):
        capture_command(["echo", "hello"], out="/dev/full")


def test_a_full_pipe_that_does_not_wait_is_waited_for(tmp_path: Path) -> None:
    """CI runners hand such a pipe to what they run."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    filled = 0
    with suppress(BlockingIOError):
        while True:
            filled += os.write(writer, bytes(4096))
    program = "from segscope.capture.command import capture_command as c; c(['seq', '100000'], out='run.log')"
    out = tmp_path / "run.log"
    with subprocess.Popen([sys.executable, "-c", program], stdout=writer, cwd=tmp_path) as child:
        os.close(writer)
        while child.poll() is None and not (out.exists() and out.stat().st_size):
            pass
        with open(reader, "rb") as file:
            read = file.read()
    assert child.returncode == 0
    assert read[filled:] == out.read_bytes()
    assert read.endswith(b"\n100000\n")


def test_output_that_is_no_text_is_kept(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    out = tmp_path / "run.log"
    data = bytes(range(256)) * 5000
    code = "import os, sys; data = bytes(range(256)) * 5000\nwhile data: data = data[os.write(1, data):]"
    assert capture_command([sys.executable, "-c", code], out=out) == 0
    assert out.read_bytes() == data == capfdbinary.readouterr().out


def test_nothing_outlives_the_command(tmp_path: Path) -> None:
    """The background process holds a pipe open, which ends when it does."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    ready = tmp_path / "ready"
    background = f"sh -c 'touch {ready}; sleep 1000' > {pipe} &"
    command = ["sh", "-c", f"{background} while ! test -e {ready}; do :; done"]
    assert capture_command(command, out=tmp_path / "run.log") == 0
    assert select.select([reader], [], [], 60)[0] == [reader]
    assert os.read(reader, 100) == b""
    os.close(reader)


def test_the_environment_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVFUSER_DUMP", "cuda_kernel(0,1), segmented_fusion")
    monkeypatch.setenv("PYTORCH_NVFUSER_DUMP", "fusion_ir")
    monkeypatch.setenv("NVFUSER_DISABLE", "resize_scheduler")
    out = tmp_path / "run.log"
    assert capture_command(["env"], dump=["segmenter_logging"], out=out) == 0
    value = "cuda_kernel(0,1),segmented_fusion,fusion_ir,segmenter_logging"
    expected = dict(os.environ) | {"NVFUSER_DUMP": value, "PYTORCH_NVFUSER_DUMP": value}
    told = dict(line.split("=", 1) for line in out.read_text().splitlines() if "=" in line)
    assert {name: told[name] for name in ("NVFUSER_DUMP", "PYTORCH_NVFUSER_DUMP", "NVFUSER_DISABLE", "PATH")} == {
        name: expected[name] for name in ("NVFUSER_DUMP", "PYTORCH_NVFUSER_DUMP", "NVFUSER_DISABLE", "PATH")
    }
    assert "SEGSCOPE_NULL_CARD" not in told


@pytest.mark.parametrize(
    ("present", "wanted", "value"),
    [
        ("", ["a"], "a"),
        ("a", ["a"], "a"),
        ("a,b(1,2)", ["c(3,4)", "a"], "a,b(1,2),c(3,4)"),
        (" a , ,b", [], "a,b"),
    ],
)
def test_options_are_merged(present: str, wanted: list[str], value: str) -> None:
    assert merged(present, wanted) == value
    assert ",".join(words(value)) == value


def test_no_dump_is_told(tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    assert capture_command(["echo", "hello"], out=out) == 0
    assert summary(out) == f"{out}: no segmented fusion: nvFuser compiled none, or its process printed elsewhere"


def test_a_dump_that_is_cut_off_is_counted(tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    out.write_text(JULY.read_text()[:-2000] + "Killed\n")
    assert summary(out).startswith(f"{out}: 1 fusion, ")


def test_refusals(tmp_path: Path) -> None:
    out = tmp_path / "run.log"
    with pytest.raises(CaptureError, match="no-such-program: no such command"):
        capture_command(["no-such-program"], out=out)
    with pytest.raises(CaptureError, match=r"/: a folder, not a command$"):
        capture_command(["/"], out=out)
    text = tmp_path / "text"
    text.touch()
    with pytest.raises(CaptureError, match=r"text: may not be run \(chmod \+x"):
        capture_command([str(text)], out=out)
    with pytest.raises(CaptureError, match=r"cannot write .*nowhere/run\.log: No such file or directory"):
        capture_command(["true"], out=tmp_path / "nowhere" / "run.log")
    with pytest.raises(DeviceError, match="unknown device 'tpu'; valid: none, null, cuda"):
        capture_command(["true"], device="tpu", out=out)
    assert not out.exists()


def script(folder: Path, text: str, name: str = "tool") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "first_lines",
    ["#!/bin/sh\n", "#!/usr/bin/env bash\n", "\x7fELF", "#!\n", "", "#!/usr/bin/env\n", "#!/usr/bin/awk 'x\n"],
)
def test_other_commands_than_python_are_refused(first_lines: str, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"cannot tell which Python tool runs.*python -m pytest"):
        toolchain_of([str(script(tmp_path, first_lines))])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("{}", "has no torch: install it there"),
        ('{"torch": "/x/torch/__init__.py"}', "has no nvFuser: install it there"),
        ("hello", "does not run as a Python"),
    ],
)
def test_a_python_without_nvfuser_is_refused(answer: str, says: str, tmp_path: Path) -> None:
    python = script(tmp_path, f"#!/bin/sh\necho '{answer}'\n", "python3.99")
    for command in (python, script(tmp_path, f"#!{python}\n")):
        with pytest.raises(DeviceError, match=f"{python} {says}"):
            toolchain_of([str(command)])


@pytest.mark.toolchain
@pytest.mark.parametrize(
    "first_lines",
    [
        "#!{python}\n",
        "#!{python} -I\n",
        "#!/usr/bin/env -S python\n",
        '#!/bin/sh\n\'\'\'exec\' "{python}" "$0" "$@"\n',
        "#!/bin/sh\n'''exec' '{python}' \"$0\" \"$@\"\n",
    ],
)
def test_the_python_of_a_script(
    first_lines: str, tmp_path: Path, need_toolchain: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = toolchain.find(need_toolchain("nvfuser-0.2.36"))  # type: ignore[operator]
    monkeypatch.setenv("PATH", f"{chain.python.parent}:{os.environ['PATH']}")
    found = toolchain_of([str(script(tmp_path, first_lines.format(python=chain.python)))])
    assert found.python == chain.python
    assert found.site_packages == chain.site_packages
    assert not found.managed
