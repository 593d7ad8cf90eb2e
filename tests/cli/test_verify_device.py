"""`segscope verify-device`: what it says and writes, and its exit codes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.capture.fidelity_runs import save
from segscope.model import Group
from tests.capture.gpu_captures import gpu_capture
from tests.conftest import Cli

TODAY = "nvfuser-0.2.36"
LLAMA = gpu_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward")


@pytest.mark.toolchain
def test_what_agrees_is_exit_code_0(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    save([LLAMA, LLAMA], tmp_path / "gpu")
    page, data = tmp_path / "report.md", tmp_path / "report.json"
    options = ["--toolchain", need_toolchain(TODAY), "--out", page, "--out", data]
    done = cli("verify-device", tmp_path / "gpu", *options)
    assert done.code == 0
    assert done.out.splitlines() == [
        "identical   rope Llama-2-13b-hf forward",
        "1 workload on NVIDIA H200: 1 identical",
    ]
    assert "| rope Llama-2-13b-hf forward | 4 expr_eval, 2 resize (2 runs) |" in page.read_text()
    assert json.loads(data.read_text())["comparisons"][0]["null"]["dumps"] == 1


@pytest.mark.toolchain
def test_what_differs_is_exit_code_1(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    """A dump in which another scheduler took the rotated heads."""
    text = re.sub(r"\bresize(?=[{)])", "transpose", LLAMA.dump or "")
    fusions = tuple(
        fusion.model_copy(update={"groups": tuple(_rescheduled(group) for group in fusion.groups)})
        for fusion in LLAMA.fusions
    )
    save([LLAMA.model_copy(update={"dump": text, "fusions": fusions})], tmp_path)
    done = cli("verify-device", tmp_path, "--toolchain", need_toolchain(TODAY))
    assert done.code == 1
    assert "1 workload on NVIDIA H200: 1 different" in done.out


def _rescheduled(group: Group) -> Group:
    return group.model_copy(update={"scheduler": group.scheduler.replace("resize", "transpose")})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--toolchain", TODAY], f"toolchain {TODAY} has no GPU code; use --toolchain current with --device cuda"),
        (["--toolchain", "current"], "run segscope verify-device --save FOLDER on one that has it, and segscope"),
        (["--save", "{tmp}", "--toolchain", "nvfuser-9"], "unknown toolchain 'nvfuser-9'; valid: "),
        (["{tmp}"], "no captures; make some on a machine with a GPU: segscope verify-device --save"),
        (["{tmp}", "--save", "{tmp}"], "--save only makes captures: leave out FOLDER and --out"),
        (["--save", "{tmp}", "--out", "x.md"], "--save only makes captures: leave out FOLDER and --out"),
        (["{tmp}", "--out", "report.html"], "cannot write report.html; valid suffixes: .md, .json"),
        (["{tmp}/missing"], "does not exist"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2(cli: Cli, arguments: list[str], says: str, tmp_path: Path) -> None:
    done = cli("verify-device", *(argument.format(tmp=tmp_path) for argument in arguments))
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_captures_of_the_null_device_are_told_so(cli: Cli, tmp_path: Path) -> None:
    assert LLAMA.provenance is not None
    made = LLAMA.provenance.model_copy(update={"device": "null"})
    save([LLAMA, LLAMA.model_copy(update={"provenance": made})], tmp_path)
    done = cli("verify-device", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == (f"segscope: error: {tmp_path}/001_rope_Llama-2-13b-hf_forward.json: not a capture of a GPU\n")
