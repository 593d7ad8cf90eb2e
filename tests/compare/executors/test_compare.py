"""Executors that are run, on the null device."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from segscope import TensorSpec
from segscope.capture import workloads
from segscope.capture.cases import EDITS
from segscope.compare.executors import Comparison, compare_executors, compare_rope_executors
from segscope.compare.executors.changed import changes
from segscope.compare.executors.model import Direction
from segscope.errors import SegscopeError
from tests.render.executors.samples import TODAY as RECORDED_TODAY
from tests.render.executors.samples import real

TODAY, JULY_2024, THUNDER_711 = "nvfuser-0.2.36", "nvfuser-0.2.8", "thunder-711"
COMPILED, INDUCTOR, NVFUSER = "torch.compile", "thunder+torch.compile", "thunder+nvfuser"
CAT = "thunder+torch.compile_cat+nvfuser"
MODULES = Path(__file__).with_name("modules.py")
ROWS = TensorSpec((8, 64))

Compare = Callable[..., Comparison]


@pytest.fixture
def rope(need_toolchain: Callable[[str], str]) -> Compare:
    def run(*args: Any, toolchain: str, **options: Any) -> Comparison:
        return compare_rope_executors(*args, toolchain=need_toolchain(toolchain), device="null", **options)

    return run


@pytest.fixture
def of_function(need_toolchain: Callable[[str], str]) -> Compare:
    def run(name: str, **options: Any) -> Comparison:
        place = {"toolchain": need_toolchain(TODAY), "device": "null"}
        return compare_executors(f"{MODULES}:{name}", ROWS, **place, **options)

    return run


def counts(comparison: Comparison, direction: Direction) -> dict[str, tuple[int, int | None, int, int]]:
    """Regions, segments, kernels generated, kernels launched of each executor."""
    passes = [(run.executor, one) for run in comparison.runs if (one := run.get(direction))]
    return {name: (len(one.regions), one.segments, len(one.kernels), len(one.launches)) for name, one in passes}


@pytest.mark.toolchain
def test_tiny_llama_today(rope: Compare) -> None:
    """It comes out as it was recorded (fixtures/executors)."""
    found = rope("tiny-llama-1.1b", toolchain=TODAY, executors=(COMPILED, NVFUSER, INDUCTOR), grad=True)
    assert counts(found, "forward") == {COMPILED: (1, None, 3, 3), NVFUSER: (1, 6, 3, 3), INDUCTOR: (1, None, 3, 3)}
    assert counts(found, "backward") == {COMPILED: (1, None, 3, 3), NVFUSER: (1, 4, 4, 4), INDUCTOR: (1, None, 4, 4)}
    recorded = real(RECORDED_TODAY)
    assert changes(recorded.model_copy(update={"runs": recorded.runs[1:]}), found) == ()
    assert [one.text for one in found.explanations] == [one.text for one in recorded.explanations]
    assert [[p.bytes_read for p in run.passes] for run in found.runs] == [
        [p.bytes_read for p in run.passes] for run in recorded.runs[1:]
    ]
    assert all(run.problem is None for run in found.runs)
    nvfuser = found.runs[1].passes[0]
    assert nvfuser.capture is not None
    assert nvfuser.capture.fusion.log is not None
    assert "nvFusion0" in nvfuser.traces[-1].text
    assert "def nvfuser_fusion" in nvfuser.regions[0].definition


@pytest.mark.toolchain
def test_inductor_of_torch_2_4_makes_two_kernels(rope: Compare) -> None:
    found = rope("tiny-llama-1.1b", toolchain=JULY_2024, executors=(COMPILED, INDUCTOR))
    assert counts(found, "forward") == {COMPILED: (1, None, 2, 2), INDUCTOR: (1, None, 2, 2)}
    assert [one.text for one in found.explanations] == [f"Forward, {INDUCTOR} makes as many kernels as {COMPILED}: 2."]


@pytest.mark.slow
@pytest.mark.toolchain
def test_a_graph_with_nothing_saved_behaves_as_that_of_the_report_once_it_saves(rope: Compare) -> None:
    found = rope("Llama-2-13b-hf", toolchain=THUNDER_711, executors=(COMPILED, CAT), grad=True, edits=("save-upcasts",))
    assert counts(found, "forward") == {COMPILED: (1, None, 1, 1), CAT: (1, None, 1, 1)}
    forward = next(one for one in found.explanations if one.direction == "forward")
    assert all(one.edits[0] == "save-upcasts" for one in forward.ablations)
    kernels = {tuple(edit.partition(":")[0] for edit in one.edits[1:]): one.kernels for one in forward.ablations}
    assert kernels == {
        (): 3,
        ("nothing-saved",): 1,
        ("save-only",): 2,
        ("no-empty-cat",): 1,
        ("no-float32",): 1,
        ("split-as-slices",): 3,
        ("no-sharing",): 4,
        ("no-opaque-index",): 1,
        ("new-cat",): 1,
    }
    assert list(forward.causes) == [one for one in forward.ablations if one.kernels == 1]
    assert not any(one.ablations for one in found.explanations if one.direction == "backward")


@pytest.mark.toolchain
def test_a_module_and_an_executor_that_fails(of_function: Compare) -> None:
    found = of_function("Block", executors=("thunder+nope", COMPILED, NVFUSER))
    nope, compiled, nvfuser = found.runs
    assert nope.passes == ()
    assert nope.problem is not None
    assert nope.problem.startswith("failed: Thunder has no executor 'nope'; valid: torch.compile, ")
    assert "\n" not in nope.problem
    assert [run.problem for run in (compiled, nvfuser)] == [None, None]
    assert found.workload == "modules.py:Block"
    assert [one.executor for one in found.explanations] == [NVFUSER]

    (one,) = compiled.passes
    ((region,),) = [one.regions]
    assert [kernel.scheduler for kernel in region.kernels] == ["triton", "extern", "triton"]
    norm, product, softmax = region.kernels
    assert "mm" in product.name
    assert "mm" in product.kinds
    assert {kind for kind, _ in norm.work} >= {"rsqrt", "mul"}
    assert {kind for kind, _ in softmax.work} >= {"exp", "div"}
    assert [buffer.bytes for buffer in norm.reads] == [8 * 64 * 2]
    assert [name for name in one.launches if name.startswith("triton")] == [norm.name, softmax.name]

    (one,) = nvfuser.passes
    assert [region.compiler for region in one.regions] == ["nvfuser", "nvfuser"]
    assert [region.segments for region in one.regions] == [1, 1]
    assert sum(name.startswith("nvfuser") for name in one.launches) == 2


@pytest.mark.toolchain
def test_a_child_that_is_too_slow_is_told(of_function: Compare) -> None:
    (run,) = of_function("Block", executors=("eager",), timeout=1).runs
    assert (run.passes, run.problem, run.end.outcome) == ((), "was ended after 1 s", "timed out")


@pytest.mark.toolchain
def test_a_child_that_crashes_leaves_what_it_recorded(of_function: Compare) -> None:
    (run,) = of_function("crashing", init=(), executors=("eager",)).runs
    (one,) = run.passes
    assert one.outputs == one.inputs
    assert one.launches == ()
    assert run.problem is not None
    assert run.problem.startswith("was ended by SIGABRT")


@pytest.mark.parametrize(
    "name", ["nope", "", "thunder", "thunder+", "thunder+nvfuser+", "torch.compile+nvfuser", "Eager"]
)
def test_an_executor_that_there_cannot_be_is_refused_before_any_is_run(name: str) -> None:
    with pytest.raises(SegscopeError, match=f"unknown executor '{re.escape(name)}': must be eager, torch.compile, or"):
        compare_rope_executors(executors=("eager", name))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"executors": ()}, "no executors: name at least one, such as ('eager', 'torch.compile', "),
        ({"executors": "eager"}, "executors 'eager': must be a sequence of names, such as ('eager',)"),
        ({"edits": "no-float32"}, "edits 'no-float32': must be a sequence of names, such as ('no-float32',)"),
    ],
)
def test_what_is_no_sequence_of_names_is_refused_before_any_is_run(options: dict[str, Any], says: str) -> None:
    with pytest.raises(SegscopeError, match=re.escape(says)):
        compare_rope_executors(**options)


@pytest.mark.toolchain
def test_a_toolchain_without_triton_says_which_have_it(need_toolchain: Callable[[str], str]) -> None:
    name = need_toolchain("nvfuser-0.2.24.dev20250115")
    (run,) = compare_rope_executors(executors=(COMPILED,), toolchain=name, device="null").runs
    assert run.problem is not None
    assert run.problem.startswith(
        f"toolchain {name} has no Triton that works: use one that has: {TODAY}, {JULY_2024}, {THUNDER_711}"
    )


def test_an_edit_that_there_is_not_is_refused_before_any_executor_is_run() -> None:
    with pytest.raises(SegscopeError, match="unknown edit 'nope'; valid: save-upcasts, nothing-saved, "):
        compare_rope_executors(edits=("save-only:x", "nope"))


def test_all_edits_are_known() -> None:
    text = Path(workloads.__path__[0], "executors", "edits.py").read_text(encoding="utf-8")
    offered = re.findall(r'^ +yield f?"([a-z0-9-]+)', text, re.MULTILINE)
    added = re.findall(r'^ADDS = "(.*)"$', text, re.MULTILINE)
    assert len(offered) > 5
    assert {*offered, *added} == set(EDITS)
