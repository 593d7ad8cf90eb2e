"""Counting, kernel groups, and what the model refuses."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from segscope.dump import parse
from segscope.errors import SegscopeError
from segscope.model import Capture, Expr, Group, SegmentedFusion


def expr(number: int, kind: str, output: str = "T1") -> Expr:
    return Expr(
        id=number, kind=kind, op=kind, outputs=(output,), inputs=("T0",), attributes={}, text=f"{output} = {kind}"
    )


def fusion(scheduler: str, *exprs: Expr) -> SegmentedFusion:
    group = Group(
        index=0, id=0, scheduler=scheduler, inputs=("T0",), outputs=("T1",), expr_ids=tuple(e.id for e in exprs)
    )
    return SegmentedFusion(
        index=0,
        era="E10",
        inputs=("T0",),
        outputs=("T1",),
        groups=(group,),
        edges=(),
        exprs=exprs,
        tensors={},
        first_line=1,
    )


@pytest.mark.parametrize(
    ("scheduler", "kinds", "launches"),
    [
        ("pointwise", ["binary"], True),
        ("pointwise", ["set"], True),
        ("resize", ["slice"], True),
        ("no_op", ["reshape", "permute", "slice", "squeeze", "broadcast", "expand"], False),
        ("expr_eval", ["reshape", "permute", "slice", "squeeze", "broadcast", "expand", "set", "segmenter_set"], False),
        ("expr_eval", ["matmul"], True),
        ("expr_eval", ["reshape", "pad"], True),
        ("expr_eval", ["unknown"], True),
        ("matmul", ["matmul"], True),
    ],
)
def test_kernel_groups(scheduler: str, kinds: list[str], launches: bool) -> None:
    made = fusion(scheduler, *(expr(number, kind) for number, kind in enumerate(kinds)))
    assert made.count() == len(made.kernel_groups) == launches
    assert made.count(scheduler) == 1
    assert made.count("transpose") == 0


def test_scalars_launch_nothing() -> None:
    assert fusion("expr_eval", expr(0, "slice"), expr(1, "binary", output="i1")).count() == 0


def test_a_fusion_that_contradicts_itself_is_refused() -> None:
    whole = fusion("pointwise", expr(1, "unary"))
    data = whole.model_dump()
    for change in (
        {"exprs": ()},
        {"exprs": (data["exprs"][0], data["exprs"][0])},
        {"groups": ({**data["groups"][0], "index": 3},)},
        {"edges": ({"source": 0, "target": 1, "value": "T1"},)},
    ):
        with pytest.raises(ValidationError):
            SegmentedFusion.model_validate(data | change)


def test_models_do_not_change_and_take_no_strangers() -> None:
    whole = fusion("pointwise", expr(1, "unary"))
    with pytest.raises(ValidationError):
        whole.index = 3
    with pytest.raises(ValidationError):
        SegmentedFusion.model_validate(whole.model_dump() | {"colour": "red"})


def test_a_capture_of_several_fusions_asks_which(fixture_capture: Callable[[str], Capture]) -> None:
    capture = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward+backward")
    with pytest.raises(SegscopeError, match=r"2 fusions, name one \(0 to 1\)"):
        _ = capture.fusion
    assert capture.count() == sum(f.count() for f in capture.fusions) == 5
    assert capture.count("pointwise") == 2


def test_it_says_what_it_is(fixture_capture: Callable[[str], Capture]) -> None:
    july = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    assert str(july) == "fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups"


def test_equality_is_by_value() -> None:
    text = (
        "Segmented_Fusion Dump: -- fusion segments:\nSegmented_Fusion{\ngroups:\n  no_op{}\nedges:\n\n"
        "group details:\ng{(no_op)\ngroup id: 0\ninputs:\noutputs:\n\n\n}\n\n} //Segmented_Fusion\n"
    )
    first, second = parse(text), parse(text)
    assert first == second
    assert first.fusion.groups[0] == second.fusion.groups[0]
    assert first.fusion.count() == 0


def test_cuts_join_the_edges_of_a_pair(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("h200_0.2.36_Llama-2-13b-hf_bookend0_forward").fusion
    assert len(fusion.edges) == 11
    assert fusion.cuts == (
        (0, 3, ("T9", "T31", "T32")),
        (0, 5, ("T49",)),
        (0, 1, ("T8", "T11", "T12")),
        (1, 3, ("T25", "T20")),
        (1, 2, ("T50",)),
        (3, 4, ("T51",)),
    )


def test_a_changed_copy_forgets_what_was_derived(fixture_capture: Callable[[str], Capture]) -> None:
    fusion = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    assert len(fusion.cuts) > 1 < len(fusion.kernel_groups)
    changed = fusion.model_copy(update={"edges": (), "groups": fusion.groups[:1]})
    assert (changed.cuts, changed.kernel_groups) == ((), ())


def test_groups_are_counted_by_scheduler_over_all_fusions(fixture_capture: Callable[[str], Capture]) -> None:
    capture = fixture_capture("h200_0.2.36_tiny-llama-1.1b_bookend0_forward+backward")
    assert [fusion.kernel_schedulers for fusion in capture.fusions] == [
        {"resize": 2, "pointwise": 1},
        {"pointwise": 2, "reduction": 2, "resize": 1},
    ]
    assert list(capture.schedulers.items()) == [("expr_eval", 3), ("pointwise", 3), ("resize", 3), ("reduction", 2)]
    assert list(capture.kernel_schedulers.items()) == [("pointwise", 3), ("resize", 3), ("reduction", 2)]
