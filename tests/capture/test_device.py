"""Who gets the null device, and who a GPU."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from segscope.capture import device
from segscope.capture.null_device import card
from segscope.capture.toolchain import Toolchain
from segscope.errors import DeviceError

MANAGED, CURRENT = "nvfuser-0.2.36", "current"
CHOICES = [
    # asked, toolchain, GPU there -> kind
    ("auto", MANAGED, False, "null"),
    ("auto", MANAGED, True, "null"),
    ("auto", CURRENT, False, "null"),
    ("auto", CURRENT, True, "cuda"),
    ("null", CURRENT, True, "null"),
    ("null", MANAGED, False, "null"),
    ("cuda", CURRENT, True, "cuda"),
]


@pytest.mark.parametrize(("asked", "toolchain", "gpu", "kind"), CHOICES)
def test_choice(asked: str, toolchain: str, gpu: bool, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "gpu_present", lambda: gpu)
    chosen = device.choose(asked, toolchain, "a100")
    assert chosen.kind == kind
    assert chosen.card == (card("a100") if kind == "null" else None)
    if (asked, kind, gpu) == ("auto", "null", True):
        assert "--toolchain current uses the GPU" in chosen.what


@pytest.mark.parametrize(
    ("asked", "toolchain", "name", "says"),
    [
        ("tpu", MANAGED, "h200", "unknown device 'tpu'; valid: auto, cuda, null"),
        ("auto", MANAGED, "gtx", "unknown card 'gtx'; valid: a100"),
        ("cuda", MANAGED, "h200", "has no GPU code; use --toolchain current"),
        ("cuda", CURRENT, "h200", "no CUDA device on this machine"),
    ],
)
def test_refusals(asked: str, toolchain: str, name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "gpu_present", lambda: False)
    with pytest.raises(DeviceError, match=says):
        device.choose(asked, toolchain, name)


def driver(name: str) -> object:
    """A CUDA driver with one device."""
    assert name == "libcuda.so.1"

    def count(pointer: Any) -> int:
        pointer._obj.value = 1
        return 0

    return SimpleNamespace(cuInit=lambda flags: 0, cuDeviceGetCount=count)


@pytest.mark.parametrize(("hidden", "there"), [(None, True), ("0", True), ("-1", False), ("", False)])
def test_a_hidden_gpu_is_not_there(hidden: str | None, there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", driver)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if hidden is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert device.gpu_present() == there


def test_no_compiler_is_told_before_anything_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(DeviceError, match="needs a C compiler"):
        device.choose("null", MANAGED, "h200")
    assert not (tmp_path / "toolchains").exists()


def toolchain_of(tmp_path: Path, version_file: str) -> Toolchain:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "version.py").write_text(version_file)
    return Toolchain("current", tmp_path / "python", tmp_path, managed=False)


@pytest.mark.parametrize(
    ("version_file", "says"),
    [
        ("cuda: Optional[str] = '13.0'\n", "is built for CUDA 13.0; the null device stands in for CUDA 12"),
        ("cuda: Optional[str] = None\n", "is built without CUDA"),
    ],
)
def test_other_builds_of_torch_are_refused(version_file: str, says: str, tmp_path: Path) -> None:
    chosen = device.choose("null", CURRENT, "h200")
    with pytest.raises(DeviceError, match=says):
        chosen.environment({}, toolchain_of(tmp_path, version_file))


def test_what_hides_gpus_does_not_hide_the_null_device(tmp_path: Path) -> None:
    chosen = device.choose("null", CURRENT, "l4")
    inherited = {"CUDA_VISIBLE_DEVICES": "", "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync", "LANG": "C"}
    made = chosen.environment(inherited, toolchain_of(tmp_path, "cuda: Optional[str] = '12.8'\n"))
    assert made.keys() == {"LANG", "LD_PRELOAD", "LD_LIBRARY_PATH", "SEGSCOPE_NULL_CARD"}
    assert made["SEGSCOPE_NULL_CARD"].startswith("name=NVIDIA L4;compute_capability=89;")
