"""The wheel: what is in it, and that it needs no C compiler for the null device."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRINT_DEVICE = "from segscope.capture.null_device.build import null_device; print(null_device())"


def build_wheel(folder: Path, path: str) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*command, folder, ROOT], check=True, env=os.environ | {"PATH": path, "CC": ""})
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_a_wheel_has_the_null_device_compiled(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path, os.environ["PATH"])
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    device = site / "segscope" / "capture" / "null_device"
    for name in ("libcudart.so.12", "libcuda.so.1", "libcuda.so", "libnvrtc.so.12"):
        assert (device / "prebuilt" / name).read_bytes().startswith(b"\x7fELF")
    for name in ("cards.toml", "src/memory.c"):
        assert (device / name).exists()
    for name in ("py.typed", "capture/worker.py", "capture/workloads/rope.py", "capture/toolchain/toolchains.toml"):
        assert (site / "segscope" / name).exists()
    done = subprocess.run(
        [sys.executable, "-c", PRINT_DEVICE],
        env={"PYTHONPATH": str(site), "PATH": "", "SEGSCOPE_HOME": str(tmp_path / "home")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(device / "prebuilt")


def test_a_wheel_built_without_a_compiler_is_pure(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path, "")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if ".so" in name]
