"""Bisection over toolchains: on the dumps of nvFuser's history, and on made-up orders of good, bad and missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.dump import read
from segscope.errors import CaptureError, SegscopeError, ToolchainError
from segscope.model import Capture
from segscope.sweep import EndsAlikeError, Point, Step, bisect, dated, product, sweep
from segscope.sweep.store import Store
from tests.conftest import FIXTURES
from tests.sweep.history import DUMPS, from_history


def two_kernels(capture: Capture) -> tuple[bool, str]:
    return capture.count() <= 2, f"{capture.count()} kernel groups"


def test_six_to_two_in_history(tmp_path: Path) -> None:
    points = product("rope", toolchains=["nvfuser-0.2.0.dev20240316..nvfuser-0.2.35.dev20260115"])
    steps: list[Step] = []
    found = bisect(points[::-1], two_kernels, folder=tmp_path, capture=from_history, on_step=steps.append)
    assert found.good.result.point.toolchain == "nvfuser-0.2.25.dev20250201"
    assert found.bad.result.point.toolchain == "nvfuser-0.2.24.dev20250115"
    assert (found.bad.said, found.skipped) == ("4 kernel groups", ())
    assert [step.verdict for step in steps[:2]] == ["good", "bad"]
    assert len(steps) < len(points)
    assert "skip" in {step.verdict for step in steps}


def test_it_uses_what_a_sweep_made_and_the_other_way_round(tmp_path: Path) -> None:
    points = [point for point in product("rope", toolchains=["all"]) if point.toolchain in DUMPS]
    made: list[Point] = []

    def counting(point: Point) -> Capture:
        made.append(point)
        return from_history(point)

    sweep(points[2:], folder=tmp_path, capture=counting)
    assert len(made) == len(points) - 2
    bisect(points[::-1], two_kernels, folder=tmp_path, capture=counting)
    assert made.count(points[0]) == 1
    assert len(made) == len(set(made))


def test_ends_that_are_not_as_said(tmp_path: Path) -> None:
    points = [point for point in product("rope", toolchains=["all"]) if point.toolchain in DUMPS]
    with pytest.raises(EndsAlikeError, match=r"nvfuser-0\.2\.0\.dev20240316 was said to be good, and is bad"):
        bisect(points, two_kernels, folder=tmp_path, capture=from_history)
    new = points[-3:]
    with pytest.raises(EndsAlikeError, match="was said to be bad, and is good"):
        bisect(new, two_kernels, folder=tmp_path, capture=from_history)


def test_an_end_without_a_dump_is_an_error(tmp_path: Path) -> None:
    points = product("rope", toolchains=["nvfuser-0.1.6.dev20240313..nvfuser-0.2.35.dev20260115"])
    with pytest.raises(
        SegscopeError, match=r"the bad end nvfuser-0.1.6.dev20240313 cannot be had: no dump of .* is kept"
    ):
        bisect(points[::-1], two_kernels, folder=tmp_path, capture=from_history)
    with pytest.raises(SegscopeError, match="the same"):
        bisect(points[-1:], two_kernels, folder=tmp_path, capture=from_history)


def test_an_end_that_had_no_toolchain_is_tried_again(tmp_path: Path) -> None:
    points = product("rope", toolchains=["nvfuser-0.2.24.dev20250115", "nvfuser-0.2.25.dev20250201"])

    def nowhere(point: Point) -> Capture:
        raise ToolchainError("no network")

    with pytest.raises(SegscopeError, match="cannot be had: no network"):
        bisect(points[::-1], two_kernels, folder=tmp_path, capture=nowhere)
    found = bisect(points[::-1], two_kernels, folder=tmp_path, capture=from_history)
    assert (found.good.result.point, found.bad.result.point) == (points[1], points[0])


def test_a_folder_in_use_is_an_error(tmp_path: Path) -> None:
    with Store(tmp_path).locked(), pytest.raises(SegscopeError, match="another segscope writes to"):
        bisect(product("rope", toolchains=["all"]), two_kernels, folder=tmp_path, capture=from_history)


VERDICTS = st.lists(st.sampled_from(["had", "missing"]), max_size=len(dated()) - 2)


@given(data=st.data(), between=VERDICTS)
def test_neighbours_of_those_that_can_be_had(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, between: list[str]
) -> None:
    """Whatever is missing, the answer is the last good and the first bad of the rest, with what is missing between."""
    kinds = ["had", *between, "had"]
    points = product("rope", toolchains=dated()[: len(kinds)])
    turn = data.draw(st.integers(1, len(kinds) - 1))

    def capture(point: Point) -> Capture:
        if kinds[points.index(point)] == "missing":
            raise CaptureError("missing")
        capture = read(FIXTURES / "eras" / "E0.txt")
        return capture.model_copy(update={"source": str(points.index(point))})

    steps: list[Step] = []
    found = bisect(
        points,
        lambda capture: (int(capture.source) < turn, ""),
        folder=tmp_path_factory.mktemp("bisect"),
        capture=capture,
        on_step=steps.append,
    )
    had = [position for position, kind in enumerate(kinds) if kind == "had"]
    good, bad = (points.index(step.result.point) for step in (found.good, found.bad))
    assert good == max(position for position in had if position < turn)
    assert bad == min(position for position in had if position >= turn)
    assert [step.result.point for step in found.skipped] == points[good + 1 : bad]
    assert len({step.result.point for step in steps}) == len(steps)
