"""How what a profiler saw becomes times of calls."""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.capture import workloads

# Without the package around them, which needs torch.
package = sys.modules["executors_alone"] = ModuleType("executors_alone")
package.__path__ = [str(Path(workloads.__path__[0], "executors"))]
timing: Any = importlib.import_module("executors_alone.timing")
launches: Any = importlib.import_module("executors_alone.launches")


def kernel(name: str, start: float, duration: float) -> Any:
    return launches.Work(name, "kernel", start, duration)


def copy(start: float, duration: float) -> Any:
    return launches.Work("Memcpy DtoD (Device -> Device)", "gpu_memcpy", start, duration)


def names(calls: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [[work.name for work in call] for call in calls]


def test_the_work_of_each_call_is_what_follows_the_overwriting() -> None:
    order = ["fill", "a", "fill", "fill", "a", "fill"]
    work = [kernel(name, place, 1) for place, name in enumerate(order)]
    calls = timing.split(work, ["fill"], ["a", "fill"], 2)
    assert names(calls) == [["a", "fill"], ["a", "fill"]]
    assert [call[0].start for call in calls] == [1, 4]


@pytest.mark.parametrize(("seen", "right"), [("aba", 3), ("ababa", 4), ("abba", 2), ("abac", 3), ("", 0)])
def test_calls_that_differ_are_refused(seen: str, right: int) -> None:
    work = [kernel(name, place, 1) for place, name in enumerate(seen)]
    says = rf"^2 calls did not .* each: 4 launches .* saw {len(seen)}, of which {right} are those$"
    with pytest.raises(RuntimeError, match=says):
        timing.split(work, [], ["a", "b"], 2)


def test_times_are_medians_over_calls() -> None:
    calls = [
        [kernel("a", 0, 1), kernel("b", 2, 10), kernel("a", 12, 2)],
        [kernel("a", 100, 3), kernel("b", 105, 20), kernel("a", 125, 4)],
        [kernel("a", 200, 50), kernel("b", 350, 15), kernel("a", 365, 60)],
    ]
    assert timing.summary(calls) == {"kernel_us": 27, "each_us": {"a": 7, "b": 15}, "gap_us": 2}


def test_a_copy_is_no_kernel_and_no_gap() -> None:
    call = [kernel("a", 0, 1), copy(2, 5), kernel("b", 8, 1)]
    assert timing.summary([call]) == {"kernel_us": 2, "each_us": {"a": 1, "b": 1}, "gap_us": 2}


def test_kernels_that_overlap_leave_no_gap() -> None:
    call = [kernel("long", 0, 10), kernel("inside", 1, 2), kernel("later", 12, 1)]
    assert timing.summary([call])["gap_us"] == 2


def test_a_call_that_launches_nothing_takes_no_time() -> None:
    assert timing.summary(timing.split([], [], [], 3)) == {"kernel_us": 0, "each_us": {}, "gap_us": 0}


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=12))
def test_gaps_and_busy_time_make_up_the_call(spans: list[tuple[int, int]]) -> None:
    call = [kernel("a", start, duration) for start, duration in sorted(spans)]
    busy = {tick for work in call for tick in range(work.start, work.end)}
    assert timing.gaps(call) == max(work.end for work in call) - call[0].start - len(busy)
