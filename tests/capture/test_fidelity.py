"""A real GPU beside the null device: what counts as agreement, and whether recorded H200 captures agree."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from segscope.capture import fidelity_runs
from segscope.capture.fidelity import compare, title
from segscope.capture.fidelity_runs import on_gpu, save, saved, verify
from segscope.dump import parse
from segscope.errors import DeviceError, SegscopeError
from segscope.model import Capture, ChildEnd
from tests.capture.gpu_captures import gpu_capture

TODAY = "nvfuser-0.2.36"
LLAMA = "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"
LLAMA_OFF = "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward"
TINY_BOTH = "h200_0.2.36_tiny-llama-1.1b_bookend0_resize-off_forward+backward"


def null(capture: Capture, change: Callable[[str], str] = lambda text: text, **facts: object) -> Capture:
    """The capture as if the null device had made it, with another dump."""
    assert capture.provenance is not None
    assert capture.dump is not None
    text = change(capture.dump)
    provenance = capture.provenance.model_copy(update={"device": "null", **facts})
    return parse(text).model_copy(update={"provenance": provenance, "dump": text})


def renumbered(text: str) -> str:
    """The dump with other numbers for all tensors and expressions."""
    text = re.sub(r"\bT(\d+)_", lambda name: f"T{int(name[1]) + 100}_", text)
    text = re.sub(r"^\((\d+)\)$", lambda number: f"({int(number[1]) + 7})", text, flags=re.M)
    braces = re.compile(r"(resize|expr_eval)\{([\d, ]+)\}")
    return braces.sub(lambda m: f"{m[1]}{{{', '.join(str(int(n) + 7) for n in m[2].split(', '))}}}", text)


def rescheduled(text: str) -> str:
    return re.sub(r"\bresize(?=[{)])", "pointwise", text)


def test_the_same_bytes_are_identical() -> None:
    gpu = gpu_capture(LLAMA)
    found = compare([gpu, gpu], [null(gpu), null(gpu)])
    assert (found.outcome, found.agrees, found.notes) == ("identical", True, ())
    assert found.workload == "rope Llama-2-13b-hf forward"
    assert found.gpu == found.null
    assert (found.gpu.runs, found.gpu.dumps, found.gpu.segmentations, found.gpu.kernel_groups) == (2, 1, 1, 2)
    assert found.gpu.schedulers == {"resize": 2, "expr_eval": 4}


def test_other_numbers_are_no_infidelity() -> None:
    gpu = gpu_capture(LLAMA)
    found = compare([gpu], [null(gpu, renumbered), null(gpu, renumbered)])
    assert (found.outcome, found.agrees, found.notes) == ("renumbered", True, ())


def test_numbers_that_change_from_run_to_run_are_noted_for_their_device() -> None:
    gpu = gpu_capture(LLAMA)
    found = compare([gpu, null(gpu, renumbered, device="cuda")], [null(gpu), null(gpu)])
    assert (found.outcome, found.agrees) == ("renumbered", True)
    assert found.notes == ("GPU: 2 numberings in 2 runs",)


def test_another_scheduler_is_a_difference() -> None:
    gpu = gpu_capture(LLAMA)
    found = compare([gpu, gpu], [null(gpu, rescheduled), null(gpu, rescheduled)])
    assert (found.outcome, found.agrees) == ("different", False)
    assert found.null is not None
    assert found.null.schedulers == {"pointwise": 2, "expr_eval": 4}


def test_what_varies_on_one_device_is_no_infidelity_where_both_printed_it() -> None:
    gpu = gpu_capture(LLAMA)
    found = compare([gpu, null(gpu, rescheduled, device="cuda")], [null(gpu), null(gpu)])
    assert (found.outcome, found.agrees) == ("unsteady", True)
    assert found.notes == ("GPU: 2 segmentations in 2 runs",)


def test_what_varies_but_never_agrees_is_a_difference() -> None:
    gpu, off = gpu_capture(LLAMA), gpu_capture(LLAMA_OFF)
    found = compare([gpu, gpu_capture(TINY_BOTH)], [null(off), null(off)])
    assert found.outcome == "different"


def test_a_failed_run_is_no_agreement() -> None:
    gpu = gpu_capture(LLAMA)
    found = compare([gpu], [null(gpu)], ["rope in x: no dump"])
    assert (found.outcome, found.agrees, found.notes) == ("failed", False, ("rope in x: no dump",))
    assert compare([gpu], [], ["rope in x: no dump"]).null is None


def test_what_a_reader_should_know_is_noted() -> None:
    gpu = gpu_capture(LLAMA)
    crashed = ChildEnd(outcome="crashed", signal="SIGFPE")
    found = compare([gpu], [null(gpu, notes=("the null device invented the answer of f",), end=crashed)])
    assert found.notes == (
        "the null device invented the answer of f",
        "null device: a run ended badly after its dump: SIGFPE",
    )


def test_the_options_are_in_the_title() -> None:
    assert title(gpu_capture(TINY_BOTH)) == "rope tiny-llama-1.1b both, NVFUSER_DISABLE=resize_scheduler"
    bookend = gpu_capture("h200_0.2.36_Llama-2-13b-hf_bookend1_forward")
    assert title(bookend) == "rope Llama-2-13b-hf forward, bookend"


@pytest.mark.parametrize(
    ("captures", "says"),
    [
        ([gpu_capture(LLAMA), null(gpu_capture(LLAMA))], "text: not a capture of a GPU"),
        ([gpu_capture(LLAMA), gpu_capture(LLAMA, card="NVIDIA L4")], "of several cards: NVIDIA H200, NVIDIA L4"),
        ([gpu_capture(LLAMA), gpu_capture(LLAMA, nvfuser="0.2.35")], "of several versions of nvFuser: 0.2.35, 0.2.36"),
        ([gpu_capture(LLAMA, card="NVIDIA T4")], "the null device cannot play NVIDIA T4; valid: NVIDIA A100"),
        ([null(gpu_capture(LLAMA), device="cuda", workload="function f")], "only RoPE and definitions"),
    ],
)
def test_captures_that_cannot_be_verified(captures: list[Capture], says: str) -> None:
    with pytest.raises(SegscopeError, match=says):
        verify(captures, TODAY)


def test_a_gpu_is_needed_to_run_on_one() -> None:
    with pytest.raises(DeviceError, match=f"toolchain {TODAY} has no GPU code"):
        on_gpu(TODAY)


def test_where_the_null_device_cannot_be_the_gpu_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch of CUDA 13 says it."""

    def cuda_13(inherited: dict[str, str], toolchain: object) -> dict[str, str]:
        raise DeviceError("torch in toolchain current is built for CUDA 13.0")

    device = SimpleNamespace(environment=cuda_13)
    for name, value in {"gpu_present": lambda: True, "choose": lambda *_: device, "ensure": str, "CASES": None}.items():
        monkeypatch.setattr(fidelity_runs, name, value)
    with pytest.raises(DeviceError, match=r"for CUDA 13\.0; do it in two steps: segscope verify-device --save FOLDER"):
        on_gpu("current", null_device_too=True)


def test_an_empty_folder_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(SegscopeError, match="no captures; make some on a machine with a GPU"):
        saved(tmp_path)


def test_captures_come_back_from_a_folder(tmp_path: Path) -> None:
    captures = [gpu_capture(LLAMA), gpu_capture(LLAMA), gpu_capture(TINY_BOTH)]
    save(captures, tmp_path / "new")
    assert [capture.model_copy(update={"source": "rope in current"}) for capture in saved(tmp_path / "new")] == captures
    (tmp_path / "new" / "mine.txt").touch()
    save(captures[:1], tmp_path / "new")
    assert len(saved(tmp_path / "new")) == 1
    assert (tmp_path / "new" / "mine.txt").exists()


@pytest.mark.toolchain
def test_an_h200_and_the_null_device_agree(need_toolchain: Callable[[str], str]) -> None:
    """Two runs of one workload on the GPU are one comparison; the null device makes each workload twice again.

    nvFuser numbers some expressions of a backward pass differently from run to run, on either device.
    """
    captures = [gpu_capture(name) for name in (LLAMA, LLAMA, TINY_BOTH)]
    fidelity = verify(captures, need_toolchain(TODAY))
    assert fidelity.agrees
    forward, both = fidelity.comparisons
    assert forward.outcome == "identical"
    assert both.outcome in ("identical", "renumbered")
    assert [(found.gpu.runs, found.null and found.null.runs) for found in (forward, both)] == [(2, 2), (1, 2)]
    assert fidelity.null is not None
    assert fidelity.null.versions["torch"] == "2.10.0+cu128"


@pytest.mark.toolchain
def test_another_nvfuser_is_refused(need_toolchain: Callable[[str], str]) -> None:
    with pytest.raises(SegscopeError, match=r"of nvFuser 0\.2\.36.*, and nvfuser-0\.2\.8 has 0\.2\.8.dev20240723"):
        verify([gpu_capture(LLAMA)], need_toolchain("nvfuser-0.2.8"))
