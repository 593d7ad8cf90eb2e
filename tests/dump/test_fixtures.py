"""Every real dump is read whole, and its parts agree with each other."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.model import SCHEDULERS, Capture, SegmentedFusion
from tests.conftest import DUMPS, FIXTURES

each_dump = pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)


def test_the_fixtures_are_there() -> None:
    assert len(DUMPS) == 43


@each_dump
def test_nothing_is_skipped_or_unknown(path: Path) -> None:
    capture = read(path)
    assert capture.complete
    assert capture.report.damage == ()
    assert capture.report.unknown_operators == {}
    assert capture.report.lines == len(path.read_text().splitlines())


@each_dump
def test_counts_are_those_of_grep(path: Path) -> None:
    lines = path.read_text().splitlines()
    capture = read(path)
    assert len(capture.fusions) == sum("fusion segments:" in line for line in lines)
    for scheduler in SCHEDULERS:
        assert capture.count(scheduler) == sum(f"g{{({scheduler})" in line for line in lines)
    assert capture.count("pointwise") == sum("g{(pointwise" in line for line in lines)


@each_dump
def test_edges_join_an_output_to_an_input(path: Path) -> None:
    lines = path.read_text()
    fusions = read(path).fusions
    assert sum(len(fusion.edges) for fusion in fusions) == len(re.findall(r"^ *e\{ ", lines, re.MULTILINE))
    for fusion in fusions:
        for edge in fusion.edges:
            assert edge.value in fusion.groups[edge.source].outputs
            assert edge.value in fusion.groups[edge.target].inputs
            assert edge.source < edge.target


@each_dump
def test_every_value_is_defined_before_its_use(path: Path) -> None:
    for fusion in read(path).fusions:
        for group in fusion.groups:
            defined = {name for expr in fusion.exprs_of(group) for name in expr.outputs}
            assert {name for name in group.outputs if name.startswith("T")} <= defined | set(fusion.inputs)
            used = {name for expr in fusion.exprs_of(group) for name in expr.tensor_inputs}
            assert used <= defined | set(group.inputs)


@each_dump
def test_json_loses_nothing(path: Path) -> None:
    capture = read(path)
    assert Capture.model_validate_json(capture.model_dump_json()) == capture
    for fusion in capture.fusions:
        assert SegmentedFusion.model_validate_json(fusion.model_dump_json()) == fusion


@each_dump
def test_every_extent_is_a_number(path: Path) -> None:
    """The shapes are static in all of these runs, however deep the expression is that nvFuser prints."""
    for fusion in read(path).fusions:
        for tensor in fusion.tensors.values():
            assert None not in tensor.shape, tensor


def test_july_2024_is_six_pointwise_kernels(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    assert fusion.schedulers == {"pointwise": 6, "no_op": 5}
    assert fusion.count() == 6
    assert [group.id for group in fusion.groups] == [None] * 11
    assert fusion.inputs == ("T0", "T1", "T2")
    assert fusion.outputs == ("T10", "T48", "T52")
    assert fusion.tensors["T23"].shape == (2, 40, 4096, 128)
    assert fusion.tensors["T23"].dtype == "float"
    assert fusion.tensors["T22"].shape == (2, 40, 4096, 128)
    assert fusion.tensors["T22"].stored_bytes == 4096 * 128 * 4


def test_today_is_two_resize_kernels(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusion
    assert fusion.schedulers == {"expr_eval": 4, "resize": 2}
    assert [group.label for group in fusion.groups] == ["g5", "g4", "g0", "g3", "g1", "g2"]
    assert [group.label for group in fusion.kernel_groups] == ["g4", "g3"]


def test_expressions_say_what_they_do(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusion
    by_output = {expr.outputs[0]: expr for expr in fusion.exprs}
    assert by_output["T3"].kind == "reshape"
    assert (by_output["T4"].kind, by_output["T4"].op) == ("permute", "Set.Permute")
    assert by_output["T12"].attributes["ranges"] == ((0, 2, 1), (0, 40, 1), (0, 4096, 1), (64, 128, 1))
    assert by_output["T16"].attributes["widths"] == (0, 0, 0, 0, 0, 0, 0, 64)
    assert by_output["T17"].attributes["widths"] == (0, 0, 0, 0, 0, 0, "i248", 0)
    assert by_output["T17"].inputs == ("T11", "i248")
    assert by_output["T18"].attributes == {"dim": 3}
    assert by_output["T18"].inputs == ("T16", "T17")
    assert by_output["T21"].attributes == {"from": "bfloat", "to": "float"}
    assert by_output["T8"].attributes["flags"] == (False, False, True, False, False)
    assert by_output["i248"].is_scalar
    assert by_output["T14"].kind == "unary"
    assert (by_output["T23"].kind, by_output["T23"].inputs) == ("binary", ("T21", "T22"))


def test_a_reduction_keeps_its_reduced_dimension(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("h200_0.2.36_tiny-llama-1.1b_bookend0_forward+backward").fusions[1]
    reduction = next(expr for expr in fusion.exprs if expr.kind == "reduction")
    assert reduction.attributes["op"] == "add"
    tensor = fusion.tensors[reduction.outputs[0]]
    assert [dim.iter_type for dim in tensor.domain].count("r") == 1
    assert len(tensor.shape) == len(tensor.domain) - 1


def test_a_name_is_a_place(fixture_capture: Callable[[str], Capture]) -> None:
    """``first_line`` is the line of the source where the segments begin."""
    name = "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward"
    lines = (FIXTURES / f"{name}.txt").read_text().splitlines()
    for fusion in fixture_capture(name).fusions:
        assert lines[fusion.first_line - 1].rstrip() == "Segmented_Fusion Dump: -- fusion segments:"
