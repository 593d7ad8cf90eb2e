"""Reading the segments through nvFuser's executor cache, without NVFUSER_DUMP's text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from segscope import dump
from segscope.capture import scheduled_ir
from segscope.capture.inspecting import capture_of, inspect_function, notes
from segscope.capture.run import Request, execute
from segscope.errors import CaptureError
from segscope.model import Capture

TODAY, JULY_2024 = "nvfuser-0.2.36", "nvfuser-0.2.8"

WORKLOAD = """
import importlib.util, json
import thunder, torch
from thunder.executors.nvfuserex import nvfuserex

def three(a, b): return a.sum(1) * b.sum(1) + 1
def joined(a, b): return torch.cat((a, -b))
def two_outputs(a, b): return (a * b).sum(-1), a * 2.5 + b
def norm(a, b): return torch.nn.functional.layer_norm(a, (128,)) * b
def turned(a, b): return a.t() * 2

def phases(options):
    spec = importlib.util.spec_from_file_location("scheduled_ir", options["collector"])
    collector = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(collector)

    def run(fn, grad=False, turn=False, **jit):
        form = dict(device="cuda", dtype=torch.bfloat16)
        a = torch.empty(128, 64, **form).t() if turn else torch.empty(64, 128, requires_grad=grad, **form)
        b = torch.empty(64, 128, **form)
        jitted = thunder.jit(fn, executors=[nvfuserex], nv_enable_bookend=False, **jit)
        outputs = jitted(a, b)
        if grad:
            sum(output.sum() for output in (outputs if isinstance(outputs, tuple) else (outputs,))).backward()
        return collector.regions(jitted)

    def go():
        jitted = thunder.jit(three, executors=[nvfuserex])
        try:
            collector.regions(jitted)
        except TypeError as error:
            problem = str(error)
        found = {
            "three": run(three), "joined": run(joined), "two_outputs": run(two_outputs, grad=True),
            "norm": run(norm, grad=True), "turned": run(two_outputs, turn=True),
            "kept": run(two_outputs, turn=True, nv_store_fusion_inputs=True), "uncalled": problem,
        }
        with open(options["out"], "w") as file:
            json.dump(found, file)

    yield "all", go
"""

Collected = Callable[[str], tuple[dict[str, Any], Capture]]


@pytest.fixture(scope="module")
def collected(need_toolchain: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Collected:
    """Return what is collected in a toolchain by name of function, and what nvFuser printed meanwhile."""
    known: dict[str, tuple[dict[str, Any], Capture]] = {}

    def collect(name: str) -> tuple[dict[str, Any], Capture]:
        if name not in known:
            folder = tmp_path_factory.mktemp("inspect")
            workload, out = folder / "workload.py", folder / "regions.json"
            workload.write_text(WORKLOAD)
            options = {"collector": str(scheduled_ir.__file__), "out": str(out)}
            asked = Request("inspect", workload, dict(options))
            done = execute(asked, toolchain=need_toolchain(name), device="null", card="h200", timeout=300)
            assert done.end.outcome == "ok", done.stderr
            known[name] = json.loads(out.read_text()), dump.parse(done.stdout.decode())
        return known[name]

    return collect


@pytest.mark.toolchain
@pytest.mark.parametrize(("name", "joined"), [(TODAY, 1), (JULY_2024, 2)])
def test_segments_are_those_of_the_dump(name: str, joined: int, collected: Collected) -> None:
    regions, printed = collected(name)
    found = capture_of(regions["three"], "three")
    assert found.complete
    assert found.source == "three in this process"
    assert found.fusion.groups == printed.fusions[0].groups
    assert found.fusion.edges == printed.fusions[0].edges
    assert [expr.op for expr in found.fusion.exprs] == [expr.op for expr in printed.fusions[0].exprs]
    assert found.count("reduction") == 2
    assert list(notes(regions["three"])) == []
    assert len(capture_of(regions["joined"], "joined").fusion.groups) == joined


@pytest.mark.toolchain
@pytest.mark.parametrize("name", [TODAY, JULY_2024])
@pytest.mark.parametrize("function", ["two_outputs", "kept"])
def test_one_group_is_made_of_the_definition(name: str, function: str, collected: Collected) -> None:
    regions, printed = collected(name)
    found = capture_of(regions[function], function)
    assert found.complete
    assert not found.report.damage
    assert not found.report.unknown_operators
    fusion = found.fusions[0]
    dumped = next(f for f in printed.fusions if f.count("reduction") == 1 and len(f.groups) == 1)
    assert fusion.groups[0].scheduler == "reduction"
    assert (fusion.inputs, fusion.outputs) == (dumped.inputs, dumped.outputs)
    assert fusion.groups[0].inputs == dumped.groups[0].inputs
    assert fusion.groups[0].outputs == dumped.groups[0].outputs
    assert {i: fusion.tensors[i].dtype for i in fusion.groups[0].inputs} == dict.fromkeys(("T0", "T1"), "__bfloat")
    assert all("was not segmented: its group is its definition" in note for note in notes(regions[function]))


@pytest.mark.toolchain
def test_forward_and_backward(collected: Collected) -> None:
    regions, _ = collected(TODAY)
    found = capture_of(regions["norm"], "norm")
    assert [fusion.count("inner_persistent") for fusion in found.fusions] == [1, 1]
    assert found.complete
    assert not found.report.unknown_operators
    assert [note.split(" was ")[0] for note in notes(regions["norm"])] == ["nvFusion0", "backward nvFusion1"]


@pytest.mark.toolchain
def test_what_cannot_be_read_is_told(collected: Collected) -> None:
    regions, _ = collected(TODAY)
    with pytest.raises(
        CaptureError, match=r"no nvFuser region of turned can be read: nvFusion0 is left out: .*nv_store"
    ):
        capture_of(regions["turned"], "turned")
    assert "called" in regions["uncalled"]


@pytest.mark.parametrize(
    ("regions", "says"),
    [
        ([], "Thunder gave nvFuser nothing to do"),
        ([{"name": "nvFusion0", "problem": "it has not run"}], "nvFusion0 is left out: it has not run"),
        ([{"name": "nvFusion0", "scheduled": "\n"}], "it has no kernel, which would name its scheduler"),
        (
            [{"name": "nvFusion0", "scheduled": "Inputs:", "definition": "", "kernels": ""}],
            "its definition does not fit its kernel",
        ),
    ],
)
def test_nothing_to_read_says_why(regions: list[dict[str, str]], says: str) -> None:
    with pytest.raises(CaptureError, match=says) as caught:
        capture_of(regions, "f")
    assert "\n" not in str(caught.value)


def test_only_what_thunder_compiled_can_be_inspected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "thunder.py").write_text("def last_traces(fn): raise TypeError(f'{fn.__name__} is not compiled')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(CaptureError, match="inspect: inspect_function is not compiled"):
        inspect_function(inspect_function)
