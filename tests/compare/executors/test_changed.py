"""What changed between two comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest

from segscope.compare.executors.changed import Change, changes, read
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


def test_passes_that_only_one_has() -> None:
    both = real(TODAY)
    some = both.model_copy(
        update={"runs": (both.runs[0], both.runs[1].model_copy(update={"passes": both.runs[1].passes[:1]}))}
    )
    lost = {
        "torch.compile backward",
        "thunder+nvfuser forward",
        "thunder+nvfuser backward",
        "thunder+torch.compile forward",
        "thunder+torch.compile backward",
    }
    assert {change.text for change in changes(both, some)} == {f"{name}: only before" for name in lost}
    assert {change.text for change in changes(some, both)} == {f"{name}: only now" for name in lost}
    assert all(change.is_of_kernels for change in changes(both, some))


def test_times_are_told_beyond_noise() -> None:
    assert changes(timed(timing(100)), timed(timing(109))) == ()
    assert changes(timed(timing(100)), timed(timing(92))) == ()
    assert changes(timed(timing(100)), timed(timing(150))) == (
        Change("eager forward: kernels take 100.0 -> 150.0 µs (1.50 times, warm L2)", False),
    )
    assert changes(timed(timing(100), timing(200, "cold")), timed(timing(100), timing(50, "cold"))) == (
        Change("eager forward: kernels take 200.0 -> 50.0 µs (0.25 times, cold L2)", False),
    )


def test_times_that_only_one_has_say_nothing() -> None:
    assert changes(timed(timing(100)), timed()) == changes(timed(), timed(timing(100))) == ()
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


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "comparison.json"
    file.write_text(real(TODAY).model_dump_json(indent=1), encoding="utf-8")
    assert read(file) == real(TODAY)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"schema_version": 2}', b"\xff\xfe\x00"])
def test_a_file_that_is_no_comparison_is_told(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(SegscopeError, match=r"other\.json is no comparison of executors: give a comparison\.json"):
        read(file)
