"""What is left of a fusion without its numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from segscope import read
from segscope.checks import structure
from segscope.model import Capture, SegmentedFusion
from tests.checks.handmade import fusion, tensor
from tests.checks.renumber import renumbered
from tests.conftest import FIXTURES
from tests.dump.generate import Generated, generated

Read = Callable[[str], Capture]
FUSIONS = [
    found
    for name in (
        "null_0.2.8_tinyllama_bookend0_forward",
        "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward",
        "h200_0.2.36_phi-2_bookend0_resize-off_forward+backward",
    )
    for found in read(FIXTURES / f"{name}.txt").fusions
]
SEGMENTED = [found for found in FUSIONS if len(found.groups) > 1]


@settings(max_examples=40)
@given(st.sampled_from(FUSIONS), st.integers())
def test_numbers_and_order_change_nothing(found: SegmentedFusion, seed: int) -> None:
    other = renumbered(found, Random(seed))
    assert structure(other)[:2] == structure(found)[:2]
    assert sorted(structure(other).groups) == sorted(structure(found).groups)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(generated(), st.integers())
def test_nor_in_generated_fusions_of_every_era(case: Generated, seed: int) -> None:
    assert structure(renumbered(case.fusion, Random(seed)))[:2] == structure(case.fusion)[:2]


@settings(max_examples=60)
@given(st.sampled_from(SEGMENTED), st.data())
def test_an_expression_in_another_group_is_another_segmentation(found: SegmentedFusion, data: st.DataObject) -> None:
    from_group, to_group = data.draw(st.permutations(found.groups))[:2]
    number = data.draw(st.sampled_from(from_group.expr_ids))
    if number in to_group.expr_ids:
        return
    left = tuple(i for i in from_group.expr_ids if i != number)
    moved = {
        from_group.index: from_group.model_copy(update={"expr_ids": left}),
        to_group.index: to_group.model_copy(update={"expr_ids": (*to_group.expr_ids, number)}),
    }
    groups = tuple(moved.get(group.index, group) for group in found.groups)
    before, after = structure(found), structure(found.model_copy(update={"groups": groups}))
    assert after.computation == before.computation
    assert after.segmentation != before.segmentation
    changed = {i for i, (a, b) in enumerate(zip(before.groups, after.groups, strict=True)) if a != b}
    assert changed == {from_group.index, to_group.index}


def test_a_scheduler_and_an_edge_belong_to_the_segmentation(fixture_capture: Read) -> None:
    found = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    first = found.groups[0].model_copy(update={"scheduler": "transpose"})
    other = found.model_copy(update={"groups": (first, *found.groups[1:])})
    assert structure(other).computation == structure(found).computation
    assert structure(other).segmentation != structure(found).segmentation
    fewer = found.model_copy(update={"edges": found.edges[1:]})
    assert structure(fewer).segmentation != structure(found).segmentation


def test_versions_that_compute_the_same_in_other_cuts(fixture_capture: Read) -> None:
    """January and February 2025, and today; July 2024 moves the pads elsewhere."""
    january = fixture_capture("history/null_0.2.24.dev20250115_Llama-2-13b-hf_definition").fusion
    february = fixture_capture("history/null_0.2.25.dev20250201_Llama-2-13b-hf_definition").fusion
    today = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward").fusion
    july = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    found = [structure(each) for each in (january, february, today)]
    assert len({each.computation for each in found}) == 1
    assert len({each.segmentation for each in found}) == 3
    assert structure(july).computation != found[0].computation


def test_a_log_changes_nothing(fixture_capture: Read) -> None:
    one = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    other = fixture_capture("null_0.2.8_llama2-13b_log_forward").fusion
    assert structure(one) == structure(other)


def test_layers_of_a_model_compute_the_same(fixture_capture: Read) -> None:
    fusions = fixture_capture("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward").fusions
    assert structure(fusions[1]) == structure(fusions[5])
    assert structure(fusions[1]).computation != structure(fusions[2]).computation


def test_a_repeated_cast_is_the_same_computation() -> None:
    """nvFuser gives each group a cast of its own, or passes one, as the cuts ask for."""
    passed = fusion(["T0"], ["T2", "T3"], ("pointwise", "T1 = __half2float(T0); T2 = exp(T1); T3 = -(T1)"))
    own = fusion(
        ["T0"],
        ["T2", "T3"],
        ("pointwise", "T1 = __half2float(T0); T2 = exp(T1); T4 = __half2float(T0); T3 = -(T4)"),
    )
    assert structure(own).computation == structure(passed).computation
    assert structure(own).segmentation != structure(passed).segmentation


@pytest.mark.parametrize(
    "other",
    [
        fusion(["T0", "T1"], ["T2"], ("pointwise", "T2 = +(T0, T1)")),
        fusion(["T1", "T0"], ["T2"], ("pointwise", "T2 = fmax(T0, T1)")),
        fusion(["T0", "T1"], ["T2"], ("pointwise", "T2 = fmax(T0, T0)")),
        fusion(["T0", "T1"], ["T2", "T2"], ("pointwise", "T2 = fmax(T0, T1)")),
        fusion(["T0", "T1"], ["T2"], ("pointwise", "T2 = fmax(T0, T1)"), tensors=(tensor("T2", (8, 5)),)),
        fusion(["T0", "T1"], ["T2"], ("pointwise", "T2 = fmax(T0, T1)"), tensors=(tensor("T0", dtype="double"),)),
        fusion(["T0", "T1"], ["T3"], ("pointwise", "T2 = fmax(T0, T1); T3 = exp(T2)")),
    ],
)
def test_what_is_another_computation(other: SegmentedFusion) -> None:
    this = fusion(["T0", "T1"], ["T2"], ("pointwise", "T2 = fmax(T0, T1)"))
    assert structure(other).computation != structure(this).computation


def changed(found: SegmentedFusion, old: str, new: str) -> SegmentedFusion:
    text = found.model_dump_json()
    assert old in text
    return SegmentedFusion.model_validate_json(text.replace(old, new))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward", "double(1.0000000000000001e-05)", "double(1.0e-06)"),
        ("null_0.2.8_llama2-13b_bookend0_forward", '"dim":3', '"dim":2'),
        ("null_0.2.8_llama2-13b_bookend0_forward", "ceilDiv(15360, 40)", "ceilDiv(15360, 41)"),
    ],
)
def test_constants_and_attributes_are_part_of_it(fixture_capture: Read, name: str, old: str, new: str) -> None:
    found = fixture_capture(name).fusions[0]
    assert structure(changed(found, old, new)).computation != structure(found).computation


def test_every_process_gives_the_same() -> None:
    script = (
        "import segscope, sys; from segscope.checks import structure; "
        "print(*structure(segscope.read(sys.argv[1]).fusion)[:2])"
    )
    path = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
    printed = {
        subprocess.run(
            [sys.executable, "-c", script, path],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {" ".join(structure(read(path).fusion)[:2]) + "\n"}
