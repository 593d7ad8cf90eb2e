"""What differs between two segmentations."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from segscope import diff, read
from segscope.checks import structure
from segscope.compare import Appeared, Diff, Merged, Moved, SchedulerChanged, Split, Vanished
from segscope.compare.match import Unit, match
from segscope.compare.report import as_text
from segscope.model import Capture, SegmentedFusion
from tests.checks.handmade import fusion
from tests.checks.renumber import renumbered
from tests.conftest import FIXTURES
from tests.dump.generate import Generated, generated

from .regroup import groups_of, regrouped

Read = Callable[[str], Capture]
JULY = "null_0.2.8_llama2-13b_bookend0_forward"
TODAY = "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"
GPT = "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward"
FUSIONS = [
    found
    for name in (JULY, TODAY, GPT, "h200_0.2.36_phi-2_bookend0_resize-off_forward+backward")
    for found in read(FIXTURES / f"{name}.txt").fusions
]
SEGMENTED = [found for found in FUSIONS if len(found.groups) > 2]


@settings(max_examples=40)
@given(st.sampled_from(FUSIONS), st.integers())
def test_numbers_and_order_are_no_change(found: SegmentedFusion, seed: int) -> None:
    compared = diff(found, renumbered(found, Random(seed)))
    assert (compared.is_same, compared.changes) == (True, ())
    assert str(compared).endswith("; the same")
    assert len(compared.fusions[0].links) == len(found.groups)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(generated(), st.integers())
def test_nor_in_generated_fusions_of_every_era(case: Generated, seed: int) -> None:
    assert diff(case.fusion, renumbered(case.fusion, Random(seed))).is_same


@settings(max_examples=30)
@given(st.sampled_from(SEGMENTED), st.data())
def test_an_expression_in_another_group_is_one_move(found: SegmentedFusion, data: st.DataObject) -> None:
    source, target = data.draw(st.permutations(found.groups))[:2]
    number = data.draw(st.sampled_from(source.expr_ids))
    (moved,) = (expr for expr in found.exprs if expr.id == number)
    stays = [expr for expr in found.exprs_of(source) if expr.id != number and not expr.is_scalar]
    assume(stays and Unit((moved,), (moved,)) in match(found, found))  # it is no scalar, and computed only once
    groups = groups_of(found)
    groups[source.index] = (source.scheduler, [i for i in source.expr_ids if i != number])
    groups[target.index] = (target.scheduler, [*target.expr_ids, number])
    after = renumbered(regrouped(found, *groups), Random(data.draw(st.integers())))
    compared = diff(found, after)
    assert structure(after).computation == structure(found).computation
    assert [change.kind for change in compared.changes] == ["moved"], [c.explain() for c in compared.changes]
    (change,) = compared.changes
    assert isinstance(change, Moved)
    assert [place.index for place in change.before] == [source.index]
    assert [operation.before for operation in change.operations] == [(number,)]
    assert compared.counts == {"moved": 1}


@settings(max_examples=30)
@given(st.sampled_from(SEGMENTED), st.data())
def test_two_groups_as_one_are_merged_and_the_other_way_round_split(
    found: SegmentedFusion, data: st.DataObject
) -> None:
    one, other = sorted(data.draw(st.permutations(range(len(found.groups))))[:2])
    groups = groups_of(found)
    _, ids = groups.pop(other)
    groups[one] = (groups[one][0], tuple(dict.fromkeys((*groups[one][1], *ids))))
    joined = renumbered(regrouped(found, *groups), Random(data.draw(st.integers())))
    (merged,) = diff(found, joined).changes
    assert isinstance(merged, Merged)
    assert [place.index for place in merged.before] == [one, other]
    (split,) = diff(joined, found).changes
    assert isinstance(split, Split)
    assert [place.index for place in split.after] == [one, other]


def test_a_merge_names_what_crosses_no_longer(fixture_capture: Read) -> None:
    july = fixture_capture(JULY).fusion
    groups = groups_of(july)
    groups[7] = (groups[7][0], groups[7][1] + groups.pop(10)[1])
    joined = regrouped(july, *groups)
    assert [change.explain() for change in diff(july, joined).changes] == [
        "merged: #7 and #10 (pointwise) -> g107 (pointwise); T15 / T15 no longer cross"
    ]
    assert [change.explain() for change in diff(joined, july).changes] == [
        "split: g107 (pointwise) -> #7 and #10 (pointwise); T15 / T15 now crosses"
    ]


def test_a_scheduler(fixture_capture: Read) -> None:
    july = fixture_capture(JULY).fusion
    groups = groups_of(july)
    groups[7] = ("transpose", groups[7][1])
    compared = diff(july, renumbered(regrouped(july, *groups), Random(1)))
    (change,) = compared.changes
    assert isinstance(change, SchedulerChanged)
    assert (change.before[0].scheduler, change.after[0].scheduler) == ("pointwise", "transpose")
    assert str(compared) == "6 kernel groups -> 6; 1 scheduler changed"
    assert compared.after.schedulers == {"no_op": 5, "pointwise": 5, "transpose": 1}


def test_july_2024_and_today(fixture_capture: Read) -> None:
    """Three kernels for Q became one, and three for K, though passes changed what is computed in detail."""
    compared = diff(fixture_capture(JULY), fixture_capture(TODAY))
    assert str(compared) == (
        "6 kernel groups -> 2; 3 merged, 1 split, 6 moved, 5 appeared, 4 vanished; what they compute differs in detail"
    )
    assert [change.explain() for change in compared.changes] == [
        "merged: #0, #2 and #5 (no_op) -> g5 (expr_eval)",
        "merged: #1, #7 and #10 (pointwise) -> g4 (resize); T23 / T23 and T15 / T15 no longer cross",
        "merged: #4, #8 and #9 (pointwise) -> g3 (resize); T40 / T40 and T35 / T35 no longer cross",
        "split: #0 (no_op) -> g5 and g2 (expr_eval); T49 now crosses",
        "moved: #1 -> g5: squeeze T8 / T8",
        "moved: #4 -> g5: squeeze T9 / T9",
        "moved: #7 -> g5: slice T12 / T12",
        "moved: #8 -> g5: slice T32 / T32",
        "moved: #9 -> g4: broadcast T24 / T24 and expand T25 / T25",
        "appeared in g5: segmenter_set T49",
        "appeared in g4: repeated cast T27 / T27 and segmenter_set T50",
        "appeared: g0 (expr_eval): set T46",
        "appeared in g3: repeated cast T22 / T52 and segmenter_set T51",
        "appeared: g1 (expr_eval): set T48",
        "vanished: #3 (no_op): slice T45",
        "vanished: #6 (no_op): slice T49",
        "vanished in #9: pad T50, pad T51 and cat T52",
        "vanished in #10: pad T46, pad T47 and cat T48",
    ]
    merged = [change for change in compared.changes if isinstance(change, Merged)]
    assert [sum(place.kernel for place in change.before) for change in merged] == [0, 3, 3]


@settings(max_examples=10, deadline=None)
@given(st.integers())
def test_numbering_changes_nothing_where_the_computation_differs(seed: int) -> None:
    july, today = (read(FIXTURES / f"{name}.txt").fusion for name in (JULY, TODAY))
    compared = diff(renumbered(july, Random(seed)), renumbered(today, Random(seed + 1)))
    assert compared.counts == diff(july, today).counts


def test_january_and_february_2025(fixture_capture: Read) -> None:
    january = fixture_capture("history/null_0.2.24.dev20250115_Llama-2-13b-hf_definition")
    february = fixture_capture("history/null_0.2.25.dev20250201_Llama-2-13b-hf_definition")
    compared = diff(january, february)
    assert str(compared) == "4 kernel groups -> 2; 3 merged, 5 moved"
    assert compared.fusions[0].same_computation


def test_what_passes_moved_is_matched(fixture_capture: Read) -> None:
    """The pads of April 2025 stand behind the casts and the negation, those of February before them."""
    february = fixture_capture("history/null_0.2.25.dev20250201_Llama-2-13b-hf_definition")
    april = fixture_capture("history/null_0.2.27.dev20250415_Llama-2-13b-hf_definition")
    lines = [change.explain() for change in diff(february, april).changes]
    assert "vanished in g3: pad T53, add T67 and cast T68" in lines
    assert not any("neg" in line or "mul" in line for line in lines)


def test_other_shapes_cut_the_same_way_are_not_the_same(fixture_capture: Read) -> None:
    names = ("h200_0.2.36_tiny-llama-1.1b_bookend0_forward", "h200_0.2.36_Llama-3-8B_bookend0_forward")
    compared = diff(*map(fixture_capture, names))
    assert (compared.changes, compared.is_same) == ((), False)
    assert str(compared) == "3 kernel groups -> 3; what they compute differs in detail"


def test_fusions_are_compared_with_those_that_compute_the_same(fixture_capture: Read) -> None:
    gpt = fixture_capture(GPT)
    first, second, *others = gpt.fusions
    turned = gpt.model_copy(update={"fusions": (*others, second, first)})
    assert diff(gpt, turned).is_same
    fewer = gpt.model_copy(update={"fusions": (second, *others)})
    (vanished,) = diff(gpt, fewer).changes
    assert isinstance(vanished, Vanished)
    assert (
        vanished.explain() == "vanished: a fusion of 3 groups: g0 (expr_eval), g1 (expr_eval) and g2 (inner_persistent)"
    )
    (appeared,) = diff(fewer, gpt).changes
    assert isinstance(appeared, Appeared)
    assert (appeared.scope, len(appeared.after)) == ("fusion", 3)


def test_fusions_that_are_left_are_compared_with_the_most_alike(fixture_capture: Read) -> None:
    """A forward and a backward have nearly the same operations, and hardly an expression in common."""
    off = fixture_capture("h200_0.2.36_phi-2_bookend0_resize-off_forward+backward")
    on = fixture_capture("h200_0.2.36_phi-2_bookend0_forward+backward")

    def compared(before: Capture, after: Capture) -> list[tuple[int | None, int | None]]:
        return [
            (pair.before and pair.before.index, pair.after and pair.after.index) for pair in diff(before, after).fusions
        ]

    backward, forward = (on.model_copy(update={"fusions": on.fusions[place:][:1]}) for place in (1, 0))
    turned = on.model_copy(update={"fusions": on.fusions[::-1]})
    assert compared(off, on) == compared(off, turned) == [(0, 0), (1, 1)]
    assert compared(off, backward) == [(0, None), (1, 1)]
    assert compared(forward, off) == [(0, 0), (None, 1)]
    assert compared(off, fixture_capture(GPT))[:2] == [(0, None), (1, None)]


def test_where_each_side_has_one_fusion_the_two_are_compared(fixture_capture: Read) -> None:
    (pair,) = diff(fixture_capture(JULY), fixture_capture(GPT).fusions[2]).fusions
    assert (pair.before is None, pair.after is None) == (False, False)


def test_groups_that_share_next_to_nothing_do_not_go_on_as_each_other(fixture_capture: Read) -> None:
    compared = diff(fixture_capture(JULY).fusion, fixture_capture(GPT).fusions[2])
    assert compared.fusions[0].links == ()
    assert compared.counts == {"moved": 2, "appeared": 1, "vanished": 11}
    lines = [change.explain() for change in compared.changes]
    assert lines[0] == "moved: #9 -> g0: broadcast T24 / T17 and expand T25 / T18"
    assert lines[1].startswith("appeared: g0 (inner_persistent): ")


def test_half_a_dump_is_never_the_same(fixture_capture: Read) -> None:
    july = fixture_capture(JULY)
    half = july.model_copy(update={"fusions": (july.fusion.model_copy(update={"complete": False}),)})
    assert diff(july, july).complete
    for compared in (diff(half, july), diff(july, half), diff(half.fusion, half.fusion)):
        assert (compared.complete, compared.is_same, compared.fusions[0].is_same) == (False, False, False)
        assert str(compared) == "6 kernel groups -> 6; a dump is incomplete, and this is of what is there"
    assert as_text(diff(half, half)).splitlines()[0] == str(diff(half, half))


def test_a_fusion_and_a_capture(fixture_capture: Read) -> None:
    today = fixture_capture(TODAY)
    assert diff(today.fusion, today).is_same


@pytest.mark.parametrize(("before", "after"), [(JULY, TODAY), (TODAY, TODAY), (GPT, TODAY)])
def test_json_without_loss(fixture_capture: Read, before: str, after: str) -> None:
    compared = diff(fixture_capture(before), fixture_capture(after))
    assert Diff.model_validate_json(compared.model_dump_json()) == compared


def test_a_repeated_cast_is_no_move() -> None:
    once = fusion(
        ["T0"], ["T3", "T4"], ("pointwise", "T1 = __half2float(T0); T3 = exp(T1)"), ("pointwise", "T4 = -(T1)")
    )
    twice = fusion(
        ["T0"],
        ["T3", "T4"],
        ("pointwise", "T1 = __half2float(T0); T3 = exp(T1)"),
        ("pointwise", "T2 = __half2float(T0); T4 = -(T2)"),
    )
    assert [change.explain() for change in diff(once, twice).changes] == ["appeared in g1: repeated cast T1 / T2"]
    assert [change.explain() for change in diff(twice, once).changes] == ["vanished in g1: repeated cast T2 / T1"]


def test_a_new_operation_in_the_middle_leaves_the_rest_matched() -> None:
    chain = "T1 = exp(T0); T2 = -(T1); T3 = rsqrt(T2)"
    longer = "T1 = exp(T0); T9 = fmax(T1, T1); T2 = -(T9); T3 = rsqrt(T2)"
    tail = ("pointwise", "T4 = exp(T3); T5 = rsqrt(T4)")
    before = fusion(["T0"], ["T5"], ("pointwise", chain), tail)
    after = fusion(["T0"], ["T5"], ("pointwise", longer), tail)
    assert [change.explain() for change in diff(before, after).changes] == ["appeared in g0: fmax T9"]


def test_fusions_that_have_nothing_in_common() -> None:
    compared = diff(
        fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)")),
        fusion(["T0", "T1"], ["T2"], ("resize", "T2 = +(T0, T1)")),
    )
    assert [change.explain() for change in compared.changes] == [
        "appeared: g0 (resize): add T2",
        "vanished: g0 (pointwise): exp T1",
    ]
