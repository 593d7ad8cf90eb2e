from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.errors import RenderError
from segscope.graph import successors, topological_order
from segscope.model import SegmentedFusion
from segscope.render.dot import to_dot
from segscope.render.selection import NODE_LIMIT, NothingSelected, collapsed, find, group_index, near, select
from segscope.render.view import View
from tests.checks.handmade import fusion
from tests.dump.generate import Generated, generated

from .conftest import real_fusion


def test_all_is_drawn_by_default(july_2024: SegmentedFusion) -> None:
    selection = select(july_2024, View())
    assert selection.boxes == tuple((n,) for n in range(11))
    assert (selection.level, selection.centre, selection.notes) == ("groups", frozenset(), ())


@pytest.mark.parametrize(
    ("radius", "shown"),
    [(0, {7}), (1, {1, 7, 10}), (2, {0, 1, 2, 3, 4, 7, 9, 10}), (3, set(range(11))), (10**9, set(range(11)))],
)
def test_near(radius: int, shown: set[int], july_2024: SegmentedFusion) -> None:
    assert near(july_2024, [7], radius) == shown


def test_focus(july_2024: SegmentedFusion) -> None:
    selection = select(july_2024, View(focus=(7,)))
    assert selection.boxes == ((1,), (7,), (10,))
    assert selection.centre == {7}
    assert selection.notes == ("3 of 11 groups drawn: #7 and what is within 1 cut",)
    text = to_dot(july_2024, view=View(focus=(7,)))
    assert "\tcut_1_7 [" in text
    assert "\tcut_1_2 [" not in text
    assert "3 of 11 groups drawn" in text


def test_several_groups_in_focus(july_2024: SegmentedFusion) -> None:
    assert select(july_2024, View(focus=(7, 8), radius=0)).boxes == ((7,), (8,))


def test_only_inputs_and_outputs_of_what_is_drawn_are(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024, view=View(focus=(1,), radius=0))
    assert "\tinput1 [" in text
    assert "\tinput0 [" not in text
    assert "\toutput0 [" not in text


@pytest.mark.parametrize("index", [-1, 11])
def test_a_group_that_is_not_there(index: int, july_2024: SegmentedFusion) -> None:
    with pytest.raises(NothingSelected, match=f"fusion 0 has no group at position {index}"):
        select(july_2024, View(focus=(index,)))


def test_labels_name_groups(july_2024: SegmentedFusion) -> None:
    assert group_index(july_2024, "#3") == 3
    with_ids = real_fusion("h200_0.2.36_Llama-2-13b-hf_bookend0_forward")
    assert [group_index(with_ids, f"g{g.id}") for g in with_ids.groups] == list(range(6))
    assert group_index(with_ids, "#5") == 5


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("g3", "fusion 0 has no group g3; it has #0 #1 #2 #3 #4 #5 #6 #7 #8 #9 #10"),
        ("#11", "fusion 0 has no group #11"),
        ("3", "'3' names no group: write g3"),
        ("#-1", "names no group"),
        ("g٣", "names no group"),
        ("", "names no group"),
        ("g" + "9" * 5000, "names no group"),
    ],
    ids=lambda text: text[:12],
)
def test_labels_that_name_none(label: str, message: str, july_2024: SegmentedFusion) -> None:
    with pytest.raises(RenderError) as refused:
        group_index(july_2024, label)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("^#7 ", {7}),
        ("no_op", {0, 2, 3, 5, 6}),
        ("kernel", {1, 4, 7, 8, 9, 10}),
        ("^cat$", {9, 10}),
        ("__float2bfloat", {7, 8, 9, 10}),
        ("^T15 ", {7, 10}),
        (r"\b167.8 MB", {1, 4, 9, 10}),
        ("^i289$", {2}),
    ],
)
def test_a_query_is_found_in_labels_operations_and_values(
    query: str, groups: set[int], july_2024: SegmentedFusion
) -> None:
    assert find(july_2024, query).groups == groups
    assert select(july_2024, View(query=query)).centre == groups


def test_found_expressions_and_values_stand_out(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024, view=View(level="expressions", query="^T15 ", radius=0))
    marked = [line.split()[0] for line in text.splitlines() if "peripheries=2" in line and "legend" not in line]
    assert {"g7", "g10", "e7_48"} <= set(marked)
    assert "e7_47" not in marked
    assert sum(name.startswith("cut") for name in marked) == 1


def test_focus_and_query_together(july_2024: SegmentedFusion) -> None:
    selection = select(july_2024, View(focus=(7,), query="^cat$", radius=0))
    assert selection.centre == {7, 9, 10}
    assert selection.notes == ("3 of 11 groups drawn: #7, #9, #10 (query '^cat$')",)


def test_a_query_that_is_found_nowhere(july_2024: SegmentedFusion) -> None:
    with pytest.raises(NothingSelected, match="query 'sdpa' is found nowhere in fusion 0"):
        select(july_2024, View(query="sdpa"))


def test_a_query_that_is_no_regular_expression(july_2024: SegmentedFusion) -> None:
    with pytest.raises(RenderError, match=r"query '\(' is no regular expression"):
        to_dot(july_2024, view=View(query="("))


def test_metadata_groups_between_the_same_kernels_are_one_box(july_2024: SegmentedFusion) -> None:
    assert collapsed(july_2024, range(11)) == ((0,), (1,), (2, 3), (4,), (5, 6), (7,), (8,), (9,), (10,))
    assert collapsed(july_2024, [3, 4, 5]) == ((3,), (4,), (5,))


def test_a_collapsed_box_says_what_is_in_it(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024, view=View(collapse=True))
    assert '\tg2 [label="#2 #3 · no_op\\n2 slice"' in text
    assert '\tcut_2_10 [label="T11 __bfloat [2, 40, 4096, 64] 41.9 MB\\nT45 __bfloat [2, 40, 4096, 0] 0 B"' in text
    assert "metadata groups collapsed" in text
    for shown in ("g3", "g6", "cut_3_10"):
        assert f"\t{shown} [" not in text


def test_groups_on_a_cycle_are_not_collapsed() -> None:
    cyclic = fusion(["T0"], ["T2"], ("no_op", "T1 = set(T2)"), ("no_op", "T2 = set(T1)"))
    assert collapsed(cyclic, range(2)) == ((0,), (1,))


@given(generated(max_groups=12), st.data())
def test_collapsed_boxes_never_wait_for_each_other(made: Generated, data: st.DataObject) -> None:
    real = made.fusion
    schedulers = data.draw(st.lists(st.sampled_from(["no_op", "pointwise"]), min_size=12, max_size=12))
    groups = tuple(g.model_copy(update={"scheduler": schedulers[g.index]}) for g in real.groups)
    real = real.model_copy(update={"groups": groups})
    boxes = collapsed(real, range(len(groups)))
    assert sorted(index for box in boxes for index in box) == list(range(len(groups)))
    home = {index: number for number, box in enumerate(boxes) for index in box}
    between = {(home[cut.source], home[cut.target]) for cut in real.cuts}
    assert not topological_order(successors(len(boxes), [pair for pair in between if pair[0] != pair[1]])).cycle
    assert all(len(box) == 1 for box in boxes if real.launches_kernel(groups[box[0]]))


def test_what_is_in_focus_decides_whether_expressions_are_too_many() -> None:
    many = "; ".join(f"T{n + 1} = exp(T{n})" for n in range(1, NODE_LIMIT))
    large = fusion(["T0"], [f"T{NODE_LIMIT}"], ("pointwise", "T1 = exp(T0)"), ("pointwise", many))
    selection = select(large, View(level="expressions"))
    assert selection.level == "groups"
    assert selection.fallback is not None
    assert selection.fallback in selection.notes
    near_start = select(large, View(level="expressions", focus=(0,), radius=0))
    assert (near_start.level, near_start.fallback) == ("expressions", None)
