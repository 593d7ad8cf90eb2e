"""The same thing, captured several times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from segscope import Finding, check, parse
from segscope.model import Capture, SegmentedFusion
from tests.checks.renumber import renumbered
from tests.conftest import FIXTURES

Read = Callable[[str], Capture]
JANUARY = "history/null_0.2.24.dev20250115_Llama-2-13b-hf_definition"
FEBRUARY = "history/null_0.2.25.dev20250201_Llama-2-13b-hf_definition"
TODAY = "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward"
BACKWARD = "h200_0.2.36_tiny-llama-1.1b_bookend0_resize-off_forward+backward"


def found(captures: list[Capture]) -> list[Finding]:
    return check(captures, select=["nondeterministic"])


def named(capture: Capture, name: str, *fusions: SegmentedFusion) -> Capture:
    return capture.model_copy(update={"source": name, **({"fusions": fusions} if fusions else {})})


def test_one_computation_in_three_cuts(fixture_capture: Read) -> None:
    """Three versions of nvFuser, one of them twice."""
    january, february, today = (fixture_capture(name) for name in (JANUARY, FEBRUARY, TODAY))
    captures = [named(february, "a.txt"), named(january, "b.txt"), named(today, "c.txt"), named(january, "d.txt")]
    (finding,) = found(captures)
    assert finding.message == (
        "4 captures, 3 segmentations: b.txt and d.txt (8 no_op, 4 pointwise); a.txt (4 no_op, 2 pointwise); "
        "c.txt (4 expr_eval, 2 pointwise); g5, g4 and g3 of a.txt are not in b.txt"
    )
    assert (finding.severity, finding.source, finding.fusion) == ("warning", "a.txt", 0)
    assert {february.fusion.groups[index].label for index in finding.groups} == {"g5", "g4", "g3"}


def test_another_numbering_is_the_same_segmentation(fixture_capture: Read) -> None:
    capture = fixture_capture(BACKWARD)
    other = [renumbered(fusion, Random(7)) for fusion in capture.fusions]
    assert found([capture, named(capture, "again", *other)]) == []


def test_expressions_that_swapped_numbers_are_the_same_segmentation(fixture_capture: Read) -> None:
    """What differs in this backward pass from run to run, on the H200 as on the null device."""
    capture = fixture_capture(BACKWARD)
    forward, backward = capture.fusions
    ids = {156: 157, 157: 156}
    assert len(ids.keys() & {expr.id for expr in backward.exprs}) == 2
    exprs = tuple(expr.model_copy(update={"id": ids.get(expr.id, expr.id)}) for expr in backward.exprs)
    groups = tuple(
        group.model_copy(update={"expr_ids": tuple(ids.get(number, number) for number in group.expr_ids)})
        for group in backward.groups
    )
    swapped = backward.model_copy(update={"exprs": exprs, "groups": groups})
    assert found([capture, named(capture, "again", forward, swapped)]) == []


def test_each_fusion_is_compared_with_its_like(fixture_capture: Read) -> None:
    capture = fixture_capture(BACKWARD)
    forward, backward = capture.fusions
    group = backward.groups[0].model_copy(update={"scheduler": "transpose"})
    other = backward.model_copy(update={"groups": (group, *backward.groups[1:])})
    (finding,) = found([named(capture, "a"), named(capture, "b"), named(capture, "c", forward, other)])
    assert (finding.source, finding.fusion, finding.groups) == ("c", 1, (0,))
    assert finding.message.startswith("3 captures, 2 segmentations: a and b (")


def test_captures_of_different_things_are_not_compared(fixture_capture: Read) -> None:
    """Resize on and off: other passes run before segmentation."""
    captures = [fixture_capture(name) for name in (TODAY, "h200_0.2.36_Llama-2-13b-hf_bookend0_forward")]
    (finding,) = found(captures)
    assert (finding.severity, finding.source, finding.fusion) == ("note", captures[1].source, None)
    assert finding.message == (
        "captures are not of the same thing: fusion 0 of h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt and of "
        "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward.txt compute different things, and are not compared"
    )


def test_one_capture_is_cut_as_it_is(fixture_capture: Read) -> None:
    assert found([fixture_capture(BACKWARD)]) == []


def test_what_only_one_capture_holds_and_what_is_incomplete_is_left_out(fixture_capture: Read) -> None:
    january, february = fixture_capture(JANUARY), fixture_capture(FEBRUARY)
    cut_off = february.fusion.model_copy(update={"complete": False})
    assert found([january, named(february, "cut off", cut_off)]) == []
    assert found([january, named(january, "more", january.fusion, february.fusion)]) == []


def ranks(*names: str) -> Capture:
    """A run of one rank a file, its lines told apart by torchrun's prefix."""
    texts = [(FIXTURES / f"{name}.txt").read_text().splitlines() for name in names]
    lines = [f"[rank{rank}]: {line}\n" for rank, text in enumerate(texts) for line in text]
    return parse("".join(lines), source="run.log")


def test_ranks_of_one_capture_are_compared() -> None:
    (finding,) = found([ranks(JANUARY, JANUARY, FEBRUARY)])
    assert finding.message.startswith(
        "3 streams, 2 segmentations: rank0 and rank1 (8 no_op, 4 pointwise); rank2 (4 no_op, 2 pointwise); "
    )
    assert (finding.source, finding.fusion) == ("run.log", 2)


def test_ranks_may_compute_different_things() -> None:
    assert found([ranks(JANUARY, TODAY.replace("_resize-off", ""))]) == []


def test_ranks_of_several_captures() -> None:
    one, other = ranks(JANUARY, JANUARY), ranks(JANUARY, FEBRUARY)
    (finding,) = found([named(one, "a.log"), named(other, "b.log")])
    assert "4 streams, 2 segmentations: a.log rank0, a.log rank1 and b.log rank0 (" in finding.message
    assert "; b.log rank1 (" in finding.message


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (("x/a.txt", "x/b.txt"), ("a.txt", "b.txt")),
        (("x/a.txt", "y/a.txt"), ("x/a.txt", "y/a.txt")),
        (("-", "-"), ("- (1)", "- (2)")),
    ],
)
def test_captures_have_the_shortest_name_that_tells_them_apart(
    fixture_capture: Read, sources: tuple[str, str], names: tuple[str, str]
) -> None:
    january, february = fixture_capture(JANUARY), fixture_capture(FEBRUARY)
    (finding,) = found([named(january, str(Path(sources[0]))), named(february, str(Path(sources[1])))])
    assert f": {names[0]} (8 no_op, 4 pointwise); {names[1]} (4 no_op" in finding.message
