import os
import subprocess
import sys
from pathlib import Path

import pytest

from segscope.capture.null_device import build, card, environment
from segscope.errors import DeviceError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of segscope's."""
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "home"


@pytest.fixture
def no_wheels(tmp_path: Path) -> Path:
    (tmp_path / "site-packages").mkdir()
    return tmp_path / "site-packages"


def test_build_makes_the_libraries_that_the_wheels_ask_for(compiler: build.CCompiler, home: Path) -> None:
    made = build.null_device()
    assert made.parent == home / "null-device"
    assert {path.name for path in made.iterdir()} == {
        "libcudart.so.12",
        "libnvrtc.so.12",
        "libcuda.so.1",
        "libcuda.so",
    }


def test_sources_compile_without_warnings(
    compiler: build.CCompiler, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", f"{compiler.command[0]} -Werror")
    assert build.null_device().is_dir()


def test_second_call_builds_nothing(compiler: build.CCompiler, home: Path) -> None:
    first = {path: path.stat().st_ino for path in build.null_device().iterdir()}
    assert {path: path.stat().st_ino for path in build.null_device().iterdir()} == first


def test_what_is_built_needs_no_compiler_any_more(
    compiler: build.CCompiler, home: Path, monkeypatch: pytest.MonkeyPatch, no_wheels: Path
) -> None:
    built = environment(no_wheels, card("h200"))
    monkeypatch.setenv("PATH", "")
    assert environment(no_wheels, card("h200")) == built


def test_processes_that_build_at_once_share_one_result(compiler: build.CCompiler, home: Path) -> None:
    script = "from segscope.capture.null_device.build import null_device; print(null_device())"
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
        for _ in range(3)
    ]
    said = {process.communicate()[0].strip() for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert [Path(made) for made in said] == list((home / "null-device").iterdir())


def test_without_a_compiler_the_error_says_what_to_install(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match=r"needs a C compiler \(cc, gcc or clang\): install gcc, or set \$CC"):
        build.null_device()


def test_a_compiler_that_is_not_there_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O2")
    with pytest.raises(DeviceError, match=r"\$CC names none: no-such-compiler -O2"):
        build.null_device()


def test_a_compiler_that_fails_is_quoted_and_leaves_nothing(
    compiler: build.CCompiler, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", f"{compiler.command[0]} -include no-such-header.h")
    with pytest.raises(DeviceError, match=r"could not build libcudart\.so\.12: .*no-such-header\.h"):
        build.null_device()
    assert list((home / "null-device").iterdir()) == []


def test_other_machines_are_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(DeviceError, match="needs x86-64 Linux, and this is aarch64"):
        build.null_device()


def test_a_home_that_cannot_be_written_is_named(
    compiler: build.CCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "file"))
    with pytest.raises(DeviceError, match=r"cannot write .*file/null-device/.*; set \$SEGSCOPE_HOME"):
        build.null_device()


def test_environment_keeps_what_is_set(
    compiler: build.CCompiler, home: Path, no_wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/some/lib")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    made = environment(no_wheels, card("l4"))
    device = build.null_device()
    assert made["LD_PRELOAD"] == f"{device}/libcudart.so.12:{device}/libnvrtc.so.12"
    paths = made["LD_LIBRARY_PATH"].split(":")
    assert (paths[0], paths[-1]) == (str(device), "/opt/some/lib")
    assert made["SEGSCOPE_NULL_CARD"].startswith("name=NVIDIA L4;compute_capability=89;")


def test_environment_runs_a_child_and_its_children(compiler: build.CCompiler, home: Path, no_wheels: Path) -> None:
    """The driver opens by both of its names, and programs that the child starts are not stopped."""
    script = """
import ctypes, subprocess
for name in ("libcuda.so.1", "libcuda.so"):
    count = ctypes.c_int()
    assert ctypes.CDLL(name).cuDeviceGetCount(ctypes.byref(count)) == 0
    print(name, count.value, flush=True)
subprocess.run(["uname"], check=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | environment(no_wheels, card("h200")),
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("libcuda.so.1 1\nlibcuda.so 1\nLinux\n", "")


def test_environment_refuses_a_home_that_cannot_be_preloaded(
    compiler: build.CCompiler, tmp_path: Path, no_wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "a home"))
    with pytest.raises(DeviceError, match=r"a home/.* has a space, .* set \$SEGSCOPE_HOME"):
        environment(no_wheels, card("h200"))
