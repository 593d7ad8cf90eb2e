"""What is published: what is in it, that it needs no C compiler for the null device, and that it works alone."""

import os
import shutil
import subprocess
import sys
import tarfile
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


def test_what_is_published_passes_twine(tmp_path: Path) -> None:
    """The wheel is built from the source distribution, so that has all that it takes."""
    build: list[str | Path] = [sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    source, wheel = sorted(tmp_path.glob("*.tar.gz")), sorted(tmp_path.glob("*.whl"))
    twine: list[str | Path] = [sys.executable, "-m", "twine", "check", "--strict", *source, *wheel]
    checked = subprocess.run(twine, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout.count("PASSED")) == (0, 2), checked.stdout
    with tarfile.open(source[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout of git, which knows what belongs to the sources")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert set(tracked.rstrip("\0").split("\0")) - names <= {".gitignore"}


def test_a_wheel_works_in_a_bare_environment(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path, os.environ["PATH"])
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", bare], check=True)
    pip: list[str | Path] = [bare / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, wheel], check=True)
    july = ROOT / "fixtures/null_0.2.8_llama2-13b_log_forward.txt"

    def segscope(*arguments: str | Path) -> tuple[int, str, str]:
        done = subprocess.run(
            [bare / "bin/segscope", *arguments],
            env={"PATH": "", "HOME": str(tmp_path), "COLUMNS": "120"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    assert segscope("count", july) == (0, "6\n", "")
    assert segscope("check", july)[::2] == (0, "")
    assert segscope("explain", july)[::2] == (0, "")
    assert segscope("show", july)[::2] == (0, "")
    assert segscope("simulate", july)[::2] == (0, "")
    assert segscope("render", july, "-o", "july.mmd")[0] == 0
    code, _, error = segscope("render", july, "-o", "july.svg")
    assert (code, error.count("\n")) == (2, 1)
    assert "pip install 'segscope[draw]'" in error
    subprocess.run([*pip, f"{wheel}[draw]"], check=True)
    assert segscope("render", july, "-o", "july.svg")[::2] == (0, "")
    assert "#10 · pointwise" in (tmp_path / "july.svg").read_text("utf-8")
