"""``segscope executors``: the kernels of several executors, on the null device."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.capture.cases import CASES, EDITS, EXECUTORS
from segscope.compare.executors import Comparison
from tests.conftest import Cli
from tests.render.executors.samples import TODAY as RECORDED_TODAY
from tests.render.executors.samples import real

TODAY, THUNDER_711 = "nvfuser-0.2.36", "thunder-711"
CAT = "thunder+torch.compile_cat+nvfuser"


def earlier(folder: Path, *executors: str) -> Path:
    """The comparison.json of an earlier run of tiny-llama-1.1b, of these executors and forward only."""
    recorded = real(RECORDED_TODAY)
    runs = [run.model_copy(update={"passes": run.passes[:1]}) for run in recorded.runs if run.executor in executors]
    file = folder / "comparison.json"
    file.write_text(recorded.model_copy(update={"runs": tuple(runs), "grad": False}).model_dump_json(), "utf-8")
    return file


@pytest.mark.toolchain
def test_the_executors_of_today(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    options = ["--config", "tiny-llama-1.1b", "--toolchain", need_toolchain(TODAY), "--device", "null"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "backward.svg").write_text("of an earlier run")
    done = cli("executors", "rope", *options, "--out", tmp_path / "out", "--why-not")
    assert done.code == 0, done.err
    rows = {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line.startswith(EXECUTORS)}
    assert {name: row[:4] for name, row in rows.items()} == {
        "eager": ["0", "-", "0", "15"],
        "torch.compile": ["1", "-", "3", "3"],
        "thunder+nvfuser": ["1", "6", "3", "3"],
        "thunder+torch.compile": ["1", "-", "3", "3"],
    }
    assert "Forward, thunder+nvfuser makes as many kernels as torch.compile: 3." in done.out
    assert "why not fused: thunder+nvfuser" in done.out
    assert "why not fused: eager" not in done.out
    assert f"wrote comparison.json, comparison.md and pictures to {tmp_path / 'out'}\n" in done.err
    told = [line for line in done.err.splitlines() if line.startswith("segscope: ")]
    assert [line.split(" by ")[1].split()[0] for line in told] == list(EXECUTORS)

    assert {path.name for path in (tmp_path / "out").iterdir()} == {"comparison.json", "comparison.md", "forward.svg"}
    written = Comparison.model_validate_json((tmp_path / "out" / "comparison.json").read_bytes())
    assert [run.executor for run in written.runs] == list(EXECUTORS)
    assert (tmp_path / "out" / "comparison.md").read_text("utf-8").startswith("## RoPE of tiny-llama-1.1b\n")
    assert "<svg" in (tmp_path / "out" / "forward.svg").read_text("utf-8")


@pytest.mark.toolchain
def test_nothing_changes_in_a_second_run(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    file = earlier(tmp_path, "torch.compile")
    options = ["--executor", "torch.compile", "--toolchain", need_toolchain(TODAY), "--device", "null"]
    done = cli("executors", "rope", *options, "--against", file, "--format", "markdown")
    assert done.code == 0, done.err
    assert done.out.startswith("## RoPE of tiny-llama-1.1b\n")
    assert "| torch.compile (reference) | 1 | - | 3 | 3 | 22.0 / 50.3 |" in done.out
    assert done.out.endswith("nothing changed\n")


@pytest.mark.toolchain
def test_llama_2_13b_against_tiny_llama(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    """JSON stays JSON beside what changed."""
    names = EXECUTORS[1:]
    options = [option for name in names for option in ("--executor", name)]
    options += ["--config", "Llama-2-13b-hf", "--toolchain", need_toolchain(TODAY), "--device", "null"]
    done = cli("executors", "rope", *options, "--against", earlier(tmp_path, *names), "--format", "json")
    assert done.code == 1, done.err
    found = Comparison.model_validate(json.loads(done.out))
    assert json.loads(found.model_dump_json()) == json.loads(done.out)
    assert [(len(run.passes[0].kernels), len(run.passes[0].launches)) for run in found.runs] == [(1, 1), (2, 2), (1, 1)]
    assert found.options["config"] == "Llama-2-13b-hf"
    changed = [line for line in done.err.splitlines() if " -> " in line]
    assert changed[:2] == [
        "workload: RoPE of tiny-llama-1.1b -> RoPE of Llama-2-13b-hf",
        "config: tiny-llama-1.1b -> Llama-2-13b-hf",
    ]
    assert "torch.compile forward: kernels generated 3 -> 1" in changed
    assert "thunder+nvfuser forward: kernels launched 3 -> 2" in changed


@pytest.mark.slow  # notebooks/02 is quicker
@pytest.mark.toolchain
def test_the_case_of_the_report(cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    """thunder-711: 4 kernels against 2, and what each thing alone does to the 4."""
    need_toolchain(CASES[THUNDER_711].toolchain)
    options = ["--case", THUNDER_711, "--executor", "torch.compile", "--executor", CAT]
    done = cli("executors", "rope", *options, "--device", "null", "--format", "json")
    assert done.code == 0, done.err
    found = Comparison.model_validate_json(done.out)
    assert found.grad
    compiled, cat = (run.passes[0] for run in found.runs)
    assert [(len(one.kernels), len(one.launches)) for one in (compiled, cat)] == [(2, 2), (4, 4)]
    assert compiled.saved == ()
    assert [(fact.dtype, fact.shape) for fact in cat.saved] == [("float32", (2, 32, 2048, 64))] * 2
    assert [(region.name, region.saved) for region in cat.regions] == [("TorchCompile0", (1, 2))]

    explanation = next(one for one in found.explanations if one.direction == "forward")
    rows = [(one.what, one.kernels) for one in explanation.ablations]
    assert rows == [
        ("as it is", 4),
        ("without the outputs that are only saved for backward", 2),
        ("with only convert_element_type_3 of the outputs that are only saved for backward", 3),
        ("with only convert_element_type_5 of the outputs that are only saved for backward", 3),
        ("without the operands of cat that have no elements", 2),
        ("with its math in the precision of its inputs instead of float32", 2),
        ("with each split written as slices", 4),
        ("with converted inputs computed anew for each operation that uses them", 5),
        ("without the opaque index of cat", 2),
        ("with a cat that drops operands without elements", 2),
    ]
    assert [(one.what, one.kernels) for one in explanation.causes] == [row for row in rows if row[1] == 2]
    told = [line for line in done.err.splitlines() if " without one thing at a time " in line]
    assert [line.split(" without ")[0].split(", ")[-1] for line in told] == ["forward", "backward"]


@pytest.mark.toolchain
def test_an_executor_that_thunder_does_not_have(cli: Cli, need_toolchain: Callable[[str], str]) -> None:
    options = ["--executor", "thunder+nope", "--toolchain", need_toolchain(TODAY), "--device", "null"]
    done = cli("executors", "rope", *options)
    assert (done.code, done.out) == (2, "")
    says = "segscope: error: no executor ran: thunder+nope: failed: Thunder has no executor 'nope'; valid: "
    assert done.err.splitlines()[-1].startswith(says)


@pytest.mark.toolchain
def test_an_executor_of_several_that_fails(cli: Cli, need_toolchain: Callable[[str], str]) -> None:
    options = ["--executor", "eager", "--executor", "thunder+nope", "--toolchain", need_toolchain(TODAY)]
    done = cli("executors", "rope", *options, "--device", "null")
    assert done.code == 1
    assert "thunder+nope: failed: Thunder has no executor 'nope'; valid: " in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--executor", "nope"], "unknown executor 'nope': must be eager, torch.compile, or thunder+NAME with names"),
        (["--config", "nope"], "unknown configuration 'nope'; valid: Llama-2-7b-hf, "),
        (["--case", "nope"], "Invalid value for '--case': 'nope' is not 'thunder-711'"),
        (["--edit", "nope"], "unknown edit 'nope'; valid: save-upcasts, "),
        (["--dtype", "int8"], "unknown dtype 'int8'; valid: bfloat16, float16, float32"),
        (["--toolchain", "nope"], "unknown toolchain 'nope'; valid: "),
        (["--format", "html"], "Invalid value for '--format'"),
        (["--against", "nowhere.json"], "Invalid value for '--against'"),
        (["--against", "{tmp}/file"], "file is no comparison of executors: give a comparison.json"),
        (["--out", "{tmp}/file/out"], "file/out: Not a directory"),
        (["--timeout", "0"], "time limit 0 s: must be more than 0"),
    ],
)
def test_what_is_wrong_is_one_line_before_anything_is_run(
    cli: Cli, tmp_path: Path, options: list[str], says: str
) -> None:
    (tmp_path / "file").write_text("{}")
    done = cli("executors", "rope", *(option.format(tmp=tmp_path) for option in options))
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("segscope: error: ")
    assert says in line


def test_help_names_what_can_be_given(cli: Cli) -> None:
    text = "".join(cli("executors", "--help").out.split())
    for name in (*EXECUTORS, "torch.compile_cat", *CASES, *EDITS):
        assert name in text


def test_the_command_is_listed(cli: Cli) -> None:
    assert "executors Compare the kernels of eager, torch.compile and Thunder's executors." in " ".join(
        cli("--help").out.split()
    )
