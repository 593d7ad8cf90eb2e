"""From a child's records to models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from segscope import dump
from segscope.compare.executors.records import read_pass
from segscope.compare.executors.region import Kernel, Region
from segscope.compare.executors.words import is_view
from segscope.model import Capture
from tests.conftest import FIXTURES
from tests.render.executors.samples import THUNDER_711, TODAY, real

from .handmade import graph_record, kernel_record, node, operation, pass_record

TINY_LLAMA = "h200_0.2.36_tiny-llama-1.1b_bookend0_forward"
BOTH_WAYS = "h200_0.2.36_tiny-llama-1.1b_bookend0_forward+backward"

ADD = (
    node("x", "placeholder"),
    node("y", "placeholder"),
    node("add", "aten.add.Tensor", "x", "y"),
    node("mul", "aten.mul.Tensor", "add", "y"),
    node("output", "output", "mul", "add"),
)
FUSED = kernel_record("triton_poi_0", ["add", "mul"], {"x": 64, "y": 64}, {"b": 64, "c": 64}, b="mul", c="add")


def work(one: Kernel) -> set[tuple[str, int]]:
    return set(one.work)


def test_a_graph_of_torch_compile_returns_results_first_and_then_what_is_saved() -> None:
    one = read_pass("forward", pass_record([graph_record(ADD, FUSED)], outputs="r"), None, ["triton_poi_0"])
    (found,) = one.regions
    assert (found.name, found.compiler, found.segments) == ("graph0", "inductor", None)
    assert (found.outputs, found.saved) == ((0, None), (1,))
    assert one.launches == ("triton_poi_0",)
    (kernel,) = found.kernels
    assert (kernel.scheduler, kernel.kinds) == ("triton", ("add", "mul"))
    assert work(kernel) == {("add", 0), ("mul", 0)}
    assert (one.bytes_read, one.bytes_written) == (128, 128)


def test_what_backward_returns_is_not_saved() -> None:
    record = pass_record([graph_record(ADD, FUSED, backward=True)], outputs="r")
    assert read_pass("backward", record, None, []).regions[0].saved == ()


def test_of_several_graphs_no_result_is_known() -> None:
    record = pass_record([graph_record(ADD, FUSED), graph_record(ADD, FUSED)], outputs="r s")
    one = read_pass("forward", record, None, [])
    assert [found.name for found in one.regions] == ["graph0", "graph1"]
    assert all((found.outputs, found.saved) == ((None, None), ()) for found in one.regions)
    assert [kernel.work for kernel in one.kernels] == [(), ()]


def test_results_that_one_region_reaches_through_another() -> None:
    """The first region's outputs: one is a result, one goes into the second region, and is saved too; one is dead."""
    made = [node("a", "aten.neg.default", "x"), node("b", "aten.exp.default", "x"), node("c", "aten.sin.default", "x")]
    first = graph_record(
        [node("x", "placeholder"), *made, node("output", "output", "a", "b", "c")],
        *(
            kernel_record(f"triton_{one.name}", [one.name], {"x": 64}, {one.name: 64}, **{one.name: one.name})
            for one in made
        ),
    )
    second = graph_record(
        [node("u", "placeholder"), node("v", "aten.mul.Tensor", "u", "u"), node("output", "output", "v")],
        kernel_record("triton_v", ["v"], {"u": 64}, {"v": 64}, v="v"),
    )
    steps = [
        operation("TorchCompile0", "t0", "t1 t2 t3", "inductor"),
        operation("view", "t2", "t4"),
        operation("TorchCompile1", "t4", "t5", "inductor"),
    ]
    one = read_pass("forward", pass_record([first, second], steps, outputs="t5 t1", saved="t2"), None, [])
    assert [(found.name, found.outputs, found.saved) for found in one.regions] == [
        ("TorchCompile0", (1, None, None), (1,)),
        ("TorchCompile1", (0,), ()),
    ]
    assert {kernel.name: kernel.work for kernel in one.kernels} == {
        "triton_a": (("neg", 1),),
        "triton_b": (("exp", 0),),
        "triton_c": (),
        "triton_v": (("mul", 0),),
    }
    assert [trace.stage for trace in one.traces] == ["last"]


def test_a_result_that_is_saved_too_is_a_result() -> None:
    steps = [operation("TorchCompile0", "t0", "t1 t2", "inductor")]
    one = read_pass("forward", pass_record([graph_record(ADD, FUSED)], steps, outputs="t1", saved="t1 t2"), None, [])
    assert (one.regions[0].outputs, one.regions[0].saved) == ((0, None), (1,))


def test_regions_that_are_left_without_a_record_are_there() -> None:
    steps = [operation("TorchCompile0", "t0", "t1", "inductor"), operation("nvFusion0", "t1", "t2", "nvfuser")]
    one = read_pass("forward", pass_record([], steps, outputs="t2"), None, [])
    assert [(found.name, found.nodes, found.kernels, found.segments) for found in one.regions] == [
        ("TorchCompile0", (), (), None),
        ("nvFusion0", (), (), None),
    ]
    assert one.segments is None
    assert (one.bytes_read, one.bytes_written) == (None, None)


def test_a_kernel_reads_a_view_and_not_all_that_is_stored() -> None:
    """A half is read as it is, the whole by another kernel; a buffer is read for the node that it was made for."""
    half = node("half", "aten.slice.Tensor", "x", arguments="x, 0, 0, 2", shape=(2, 4))
    nodes = [
        node("x", "placeholder"),
        half,
        node("neg", "aten.neg.default", "half", shape=(2, 4)),
        node("row", "aten.select.int", "neg", arguments="neg, 0, 0", shape=(4,)),
        node("exp", "aten.exp.default", "row", shape=(4,)),
        node("sum", "aten.sum.default", "x", shape=()),
        node("output", "output", "exp", "sum"),
    ]
    record = graph_record(
        nodes,
        kernel_record("triton_0", ["half", "neg"], {"x": 64}, {"buf0": 32}, buf0="neg"),
        kernel_record("triton_1", ["row", "exp"], {"buf0": 32}, {"buf1": 16}, buf1="exp"),
        kernel_record("triton_2", ["sum"], {"x": 64}, {"buf2": 4}, buf2="sum"),
    )
    one = read_pass("forward", pass_record([record], outputs="r s"), None, [])
    assert [[(buffer.name, buffer.bytes) for buffer in kernel.reads] for kernel in one.kernels] == [
        [("x", 32)],
        [("buf0", 16)],
        [("x", 64)],
    ]
    assert [kernel.kinds for kernel in one.kernels] == [("slice", "neg"), ("slice", "exp"), ("reduction",)]


def test_what_is_read_otherwise_than_by_operations_counts_whole() -> None:
    nodes = [node("x", "placeholder"), node("output", "output", "x")]
    record = graph_record(nodes, kernel_record("extern_kernels.mm", [], {"x": 64}, {"buf0": 16}))
    (kernel,) = read_pass("forward", pass_record([record], outputs="r"), None, []).kernels
    assert (kernel.scheduler, kernel.reads[0].bytes, kernel.work) == ("extern", 64, ())


def test_reasons_not_to_fuse_are_kept() -> None:
    why = {"first": "b", "second": "c", "first_operations": ["mul"], "second_operations": ["add"]}
    record = pass_record(
        [graph_record(ADD, FUSED, why_not=[why | {"reason": "no shared data", "times": 3}])], outputs="r"
    )
    (found,) = read_pass("forward", record, None, []).regions[0].why_not
    assert (found.first, found.second_operations, found.reason, found.times) == ("b", ("add",), "no shared data", 3)


def as_recorded(one: Region, stored: dict[str, int]) -> dict[str, Any]:
    """What the child recorded of a region of Inductor: reads with all their bytes, writes for operations at the end."""
    nodes = {node.name: node for node in one.nodes}
    kernels = []
    for kernel in one.kernels:
        reads = {buffer.name: stored.get(buffer.name, buffer.bytes or 0) for buffer in kernel.reads}
        writes = {buffer.name: buffer.bytes or 0 for buffer in kernel.writes}
        read = {source for name in kernel.operations for source in nodes[name].inputs}
        made = [name for name in kernel.operations if name not in read and not is_view(nodes[name].operation)]
        kernels.append(
            kernel_record(kernel.name, kernel.operations, reads, writes, **dict(zip(writes, made, strict=True)))
        )
    return graph_record(one.nodes, *kernels)


@pytest.mark.parametrize(("place", "stored"), [(1, "primals_1"), (3, "arg0_1")])
def test_v_q_and_k_of_tiny_llama_read_their_part_of_what_is_stored(place: int, stored: str) -> None:
    one = real(TODAY).runs[place].passes[0]
    graph = as_recorded(one.regions[0], {stored: 20_971_520})
    found = read_pass("forward", pass_record([graph], outputs="q k v"), None, one.launches)
    assert [[b.bytes for b in kernel.reads if b.name == stored] for kernel in found.kernels] == [
        [2_097_152],
        [16_777_216],
        [2_097_152],
    ]


def test_results_that_the_kernels_of_the_report_are_for() -> None:
    """Results are q, k and v; the two up-casts are made for both of the first."""
    (one,) = real(THUNDER_711).runs[2].passes[0].regions
    names = ["v", "cos", "sin", "q", "k"]
    steps = [operation("TorchCompile0", "qkv", " ".join(names), "inductor")]
    record = pass_record([as_recorded(one, {})], steps, outputs="q k v", saved="cos sin")
    (found,) = read_pass("forward", record, None, []).regions
    assert (found.outputs, found.saved) == (one.outputs, one.saved) == ((2, None, None, 0, 1), (1, 2))
    assert [kernel.work for kernel in found.kernels] == [kernel.work for kernel in one.kernels]


def test_a_region_of_nvfuser(fixture_capture: Callable[[str], Capture]) -> None:
    capture = fixture_capture(TINY_LLAMA)
    steps = [operation("nvFusion0", "qkv cos sin", "v q k", "nvfuser")]
    record = pass_record(operations=steps, outputs="q k v", definitions={"nvFusion0": "def nvfuser_fusion..."})
    one = read_pass("forward", record, capture, [])
    (found,) = one.regions
    assert (found.compiler, found.segments, one.segments, len(found.kernels)) == ("nvfuser", 6, 6, 3)
    assert found.outputs == (2, 0, 1)
    assert found.definition == "def nvfuser_fusion..."
    stored = capture.fusion.inputs[0]
    v, q, k = sorted(found.kernels, key=lambda kernel: [2, 0, 1].index(kernel.work[0][1]))
    assert [{result for _, result in kernel.work} for kernel in (v, q, k)] == [{2}, {0}, {1}]
    assert [[b.bytes for b in kernel.reads if b.name == stored] for kernel in (v, q, k)] == [
        [2_097_152],
        [16_777_216],
        [2_097_152],
    ]
    assert {kernel.name for kernel in found.kernels} == {group.label for group in capture.fusion.kernel_groups}
    assert all({why.first, why.second} <= {kernel.name for kernel in found.kernels} for why in found.why_not)


def test_a_fusion_for_each_region_in_order(fixture_capture: Callable[[str], Capture]) -> None:
    """A region of Inductor between two of nvFuser takes none of their dumps."""
    capture = fixture_capture(BOTH_WAYS)
    first, second = capture.fusions
    steps = [
        operation("nvFusion0", "a", "b", "nvfuser"),
        operation("TorchCompile0", "b", "c d", "inductor"),
        operation("nvFusion1", "c", "e", "nvfuser"),
    ]
    one = read_pass("forward", pass_record([graph_record(ADD, FUSED)], steps, outputs="e"), capture, [])
    assert [found.segments for found in one.regions] == [len(first.groups), None, len(second.groups)]
    assert one.segments == len(first.groups) + len(second.groups)
    assert len(one.regions[1].kernels) == 1


def test_a_dump_without_numbers_gives_no_bytes() -> None:
    """Sizes are symbols where nvFuser does not know them when it cuts, as in the backward of thunder-711."""
    text = (FIXTURES / f"{TINY_LLAMA}.txt").read_text(encoding="utf-8").replace("{2048}", "{i9}")
    steps = [operation("nvFusion0", "a", "b", "nvfuser")]
    one = read_pass("forward", pass_record(operations=steps, outputs="b"), dump.parse(text, "symbols"), [])
    assert {buffer.bytes for kernel in one.kernels for buffer in (*kernel.reads, *kernel.writes)} == {None}
    assert (one.bytes_read, one.bytes_written) == (None, None)
