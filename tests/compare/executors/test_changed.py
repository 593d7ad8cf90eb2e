"""What changed between two comparisons."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.compare.executors import read
from segscope.compare.executors.changed import Change, changes
from segscope.compare.executors.model import Comparison, Timing
from segscope.errors import SegscopeError
from tests.render.executors.samples import NAMES, TODAY, comparison, forward, kernel, real, region, run, with_all


def timing(us: float, l2: str = "warm") -> Timing:
    return Timing.model_validate({"l2": l2, "calls": 9, "kernel_us": us, "each_us": {}, "gap_us": 0.0, "host_us": 50.0})


def timed(*timings: Timing) -> Comparison:
    return comparison(run("eager", forward(launches=["a"], timings=timings)))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_changes_from_one_to_itself(name: str) -> None:
    assert changes(real(name), real(name)) == ()


def test_each_count_is_told() -> None:
    two = [region(kernel(name, (name, 0)), name=name, segments=1) for name in ("add", "mul")]
    whole = region(kernel("add", ("add", 0)), kernel("mul", ("mul", 0)), segments=4)
    before = comparison(run("x", forward(*two, launches=["add", "mul"])))
    after = comparison(run("x", forward(whole, launches=["add", "mul", "copy"])))
    assert changes(before, after) == (
        Change("x forward: regions 2 -> 1", True),
        Change("x forward: nvFuser segments 2 -> 4", True),
        Change("x forward: kernels launched 2 -> 3", True),
    )
    fewer = comparison(run("x", forward(region(kernel("add", ("add", 0))), launches=["add", "mul"])))
    assert Change("x forward: kernels generated 2 -> 1", True) in changes(before, fewer)
    assert Change("x forward: nvFuser segments 2 -> None", True) in changes(before, fewer)


def test_an_executor_that_only_one_has_is_no_change_of_kernels() -> None:
    both = real(TODAY)
    some = both.model_copy(update={"runs": both.runs[:2]})
    names = ("thunder+nvfuser", "thunder+torch.compile")
    assert changes(both, some) == tuple(Change(f"{name}: only before", False) for name in names)
    assert changes(some, both) == tuple(Change(f"{name}: only now", False) for name in names)


def test_a_pass_that_an_executor_of_both_lost_is_a_change_of_kernels() -> None:
    both = real(TODAY)
    some = both.model_copy(
        update={"runs": (both.runs[0].model_copy(update={"passes": both.runs[0].passes[:1]}), *both.runs[1:])}
    )
    assert changes(both, some) == (Change("eager backward: only before", True),)
    assert changes(some, both) == (Change("eager backward: only now", True),)


def test_a_backward_that_was_not_asked_for_is_no_change_of_kernels() -> None:
    both = real(TODAY)
    runs = tuple(run.model_copy(update={"passes": run.passes[:1]}) for run in both.runs)
    found = changes(both, both.model_copy(update={"runs": runs, "grad": False}))
    assert found[0] == Change("grad: True -> False", False)
    assert [change.text for change in found[1:]] == [f"{run.executor} backward: only before" for run in runs]
    assert not any(change.is_of_kernels for change in found)


def test_where_it_was_run_is_told_first_and_once() -> None:
    one, two = (region(kernel("add", ("add", 0)), name=name) for name in ("graph0", "graph1"))
    versions = {"torch": "2.10.0", "nvfuser": "0.2.36", "thunder": "0.2.6", "python": "3.12.1"}
    older = {"torch": "2.4.0", "nvfuser": "0.2.8", "thunder": "0.2.1", "python": "3.10.13"}
    before = comparison(*(run(name, forward(one), versions=versions) for name in ("x", "y")))
    place = {"versions": older, "device": "null", "card": "NVIDIA L4", "toolchain": "nvfuser-0.2.8"}
    after = comparison(*(run(name, forward(one, two), **place) for name in ("x", "y")))
    assert changes(before, after) == (
        Change("device: cuda -> null", False),
        Change("card: NVIDIA H200 -> NVIDIA L4", False),
        Change("toolchain: nvfuser-0.2.36 -> nvfuser-0.2.8", False),
        Change("torch: 2.10.0 -> 2.4.0", False),
        Change("nvfuser: 0.2.36 -> 0.2.8", False),
        Change("thunder: 0.2.6 -> 0.2.1", False),
        Change("x forward: regions 1 -> 2", True),
        Change("x forward: kernels generated 1 -> 2", True),
        Change("y forward: regions 1 -> 2", True),
        Change("y forward: kernels generated 1 -> 2", True),
    )


def test_times_are_told_beyond_noise() -> None:
    assert changes(timed(timing(100)), timed(timing(109))) == ()
    assert changes(timed(timing(100)), timed(timing(92))) == ()
    assert changes(timed(timing(100)), timed(timing(150))) == (
        Change("eager forward: kernels take 100.0 -> 150.0 µs (1.50 times, warm L2)", False),
    )
    assert changes(timed(timing(100), timing(200, "cold")), timed(timing(100), timing(50, "cold"))) == (
        Change("eager forward: kernels take 200.0 -> 50.0 µs (0.25 times, cold L2)", False),
    )


def test_times_that_only_one_has_are_told() -> None:
    assert changes(timed(timing(100)), timed()) == (Change("times: only before", False),)
    assert changes(timed(), timed(timing(100))) == (Change("times: only now", False),)
    both = comparison(*(run(name, forward(timings=[timing(100)])) for name in ("x", "y")))
    one = comparison(run("x", forward(timings=[timing(100)])), run("y", forward()))
    assert changes(both, one) == (Change("y forward: timed only before", False),)


def test_times_of_another_cache_are_not_compared() -> None:
    assert changes(timed(timing(100)), timed(timing(200, "cold"))) == ()


def test_no_kernels_take_no_time() -> None:
    assert changes(timed(timing(0)), timed(timing(5))) == ()


def test_another_workload_is_told_and_is_no_change_of_kernels() -> None:
    before = with_all(real(TODAY), "forward")
    after = before.model_copy(update={"workload": "RoPE of phi-2", "options": before.options | {"config": "phi-2"}})
    assert changes(before, after) == (
        Change("workload: RoPE of tiny-llama-1.1b -> RoPE of phi-2", False),
        Change("config: tiny-llama-1.1b -> phi-2", False),
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_is_written_is_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "comparison.json"
    file.write_bytes(pack(real(TODAY).model_dump_json(indent=1).encode()))
    assert read(file) == real(TODAY)


def test_errors_that_are_no_numbers_are_read(tmp_path: Path) -> None:
    file = tmp_path / "comparison.json"
    one = run("x", forward(errors=(float("nan"), float("inf"))))
    file.write_text(comparison(one, one).model_dump_json())
    assert str(read(file).runs[0].passes[0].errors) == "(nan, inf)"


def test_half_a_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "half.json.gz"
    file.write_bytes(gzip.compress(real(TODAY).model_dump_json().encode())[:1000])
    with pytest.raises(SegscopeError, match=r"half\.json\.gz: the gzip data ends early"):
        read(file)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"schema_version": 2}', b"\xff\xfe\x00"])
def test_a_file_that_is_no_comparison_is_told(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(SegscopeError, match=r"other\.json is no comparison of executors: give a comparison\.json"):
        read(file)
