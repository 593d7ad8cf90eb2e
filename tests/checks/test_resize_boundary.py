"""Why cuts are there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope import Finding, check
from segscope.model import Capture, SegmentedFusion
from tests.checks.handmade import fusion, tensor

Read = Callable[[str], Capture]


def found_in(found: SegmentedFusion) -> list[Finding]:
    return check(found, select=["resize-boundary"])


def test_july_2024_llama_2_13b(fixture_capture: Read) -> None:
    """Each cut between pointwise groups that a slice or pad causes, with the tensor and what reads it."""
    july = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    names = {expr.id: (expr.kind, *expr.outputs) for expr in july.exprs}
    between = [
        finding
        for finding in found_in(july)
        if {july.groups[index].scheduler for index in finding.groups} == {"pointwise"}
    ]
    assert {f.groups: (f.tensors, *(names[i] for i in f.expressions)) for f in between if f.expressions} == {
        (1, 7): (("T8",), ("slice", "T12")),
        (4, 8): (("T9",), ("slice", "T32")),
        (7, 10): (("T15",), ("pad", "T16")),
        (8, 9): (("T35",), ("pad", "T36")),
    }
    assert {f.groups: f.tensors for f in between if not f.expressions} == {
        (1, 4): ("T22",),
        (1, 10): ("T23",),
        (4, 9): ("T40",),
        (9, 10): ("T27",),
    }
    (finding,) = (f for f in between if f.groups == (7, 10))
    assert finding.message == (
        "the cut #7 -> #10 is there because pad T16 in #10 reads T15, computed by #7, "
        "and in a kernel can only read it from memory"
    )
    assert finding.option is None
    assert finding.advice == (
        "no scheduler of this nvFuser has slices and pads inside kernels; since 0.2.27.dev20250401 resize has"
    )


def test_july_2024_views_are_kept_apart_by_their_own_slices(fixture_capture: Read) -> None:
    july = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    (finding,) = (f for f in found_in(july) if f.groups == (0, 4))
    assert "slice T7, slice T5 and slice T6 in #0 read T4, computed there" in finding.message


def test_every_cut_is_accounted_for_once(fixture_capture: Read) -> None:
    for name in ("null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward"):
        for found in fixture_capture(name).fusions:
            cuts = sorted({(edge.source, edge.target) for edge in found.edges})
            assert [finding.groups for finding in found_in(found)] == cuts


def test_hints_of_today(fixture_capture: Read) -> None:
    """nvFuser 0.2.36 on the H200, resize scheduler disabled: aliases are marked by hints, pads read memory."""
    today = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward").fusion
    by_cut = {finding.groups: finding for finding in found_in(today)}
    assert [cut for cut, f in by_cut.items() if "hint (SegmenterSet)" in f.message] == [(0, 5), (1, 2), (3, 4)]
    assert [by_cut[cut].tensors for cut in ((0, 5), (1, 2), (3, 4))] == [("T69",), ("T70",), ("T71",)]
    assert by_cut[0, 1].tensors == ("T12", "T11")
    assert "comes from no slice" in by_cut[1, 3].message


def test_the_resize_scheduler_needs_a_boundary_for_broadcasts_alone(fixture_capture: Read) -> None:
    """The slices that pick Q and K give a dimension of extent 1; those of the rotation are inside the kernels."""
    today = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusion
    found = [f for f in found_in(today) if f.option == "NVFUSER_DISABLE=resize_scheduler"]
    assert [(f.groups, f.tensors) for f in found] == [((0, 1), ("T4",)), ((0, 3), ("T4",))]
    assert all("resizes no broadcast dimension" in f.advice for f in found)


def test_pads_are_with_their_cat() -> None:
    found = fusion(["T0"], ["T2"], ("pointwise", "T1 = exp(T0)"), ("pointwise", "T2 = cat(T1)"))
    assert "comes from no slice" in found_in(found)[0].message


@pytest.mark.parametrize("operator", ["slice", "pad", "select", "index_select", "gather"])
def test_operators_that_read_memory(operator: str) -> None:
    groups = (("pointwise", "T1 = exp(T0)"), ("pointwise", f"T2 = {operator}(T1)"))
    found = fusion(["T0"], ["T2"], *groups, tensors=(tensor("T2", (8, 3)),))
    (finding,) = found_in(found)
    assert (finding.expressions, finding.tensors, finding.severity) == ((1,), ("T1",), "note")
    resizes = operator in ("slice", "pad")
    assert ("resize scheduler" in finding.advice, finding.option is not None) == (resizes, resizes)


@pytest.mark.parametrize("operator", ["slice", "pad"])
def test_a_slice_or_pad_of_nothing_is_none(operator: str) -> None:
    found = fusion(["T0"], ["T2"], ("pointwise", "T1 = exp(T0)"), ("pointwise", f"T2 = {operator}(T1)"))
    (finding,) = found_in(found)
    assert "comes from no slice" in finding.message


def test_a_fusion_output() -> None:
    found = fusion(["T0"], ["T1", "T2"], ("pointwise", "T1 = exp(T0)"), ("pointwise", "T2 = exp(T1)"))
    (finding,) = found_in(found)
    assert "passes T1, an output of the fusion" in finding.message
