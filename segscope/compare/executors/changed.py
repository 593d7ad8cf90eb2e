"""What changed between two comparisons of the same executors: an earlier one and a later one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, get_args

from segscope.compare.executors.model import Comparison, Direction, Pass, Run

NOISE: Final = 1.1
"""Times are told where they differ by more than this factor."""


class Change(NamedTuple):
    """One thing that changed."""

    text: str
    is_of_kernels: bool
    """Whether it counts regions, segments, kernels or launches; what was run, where, and times are no such change."""


def changes(before: Comparison, after: Comparison) -> tuple[Change, ...]:
    """Return what changed: first what was run and where, then each executor's numbers, or that only one has it."""
    found = [*_of_settings(before, after), *_of_timed(before, after)]
    old, new = ({run.executor: run for run in one.runs} for one in (before, after))
    for executor in {**old, **new}:
        if executor in old and executor in new:
            found += _of_runs(old[executor], new[executor], same_grad=before.grad == after.grad)
        else:
            found.append(Change(f"{executor}: only {_when(executor in old)}", False))
    return tuple(found)


def _of_settings(before: Comparison, after: Comparison) -> Iterable[Change]:
    old, new = _settings(before), _settings(after)
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield Change(f"{name}: {old.get(name)} -> {new.get(name)}", False)


def _settings(comparison: Comparison) -> dict[str, object]:
    """Return what was run, and where; what differs between runs more than once."""
    places = [
        {"device": run.device, "card": run.card, "toolchain": run.toolchain}
        | {name: run.versions[name] for name in ("torch", "nvfuser", "thunder") if name in run.versions}
        for run in comparison.runs
    ]
    names = dict.fromkeys(name for place in places for name in place)
    return {
        "workload": comparison.workload,
        **comparison.options,
        "grad": comparison.grad,
        **{name: ", ".join(dict.fromkeys(place[name] for place in places if name in place)) for name in names},
    }


def _of_timed(before: Comparison, after: Comparison) -> Iterable[Change]:
    """Say which of the passes that both have were timed only once; in one line where that is all of them."""
    old, new = (
        {f"{run.executor} {one.direction}": bool(one.timings) for run in comparison.runs for one in run.passes}
        for comparison in (before, after)
    )
    both = [where for where in old if where in new]
    differ = [where for where in both if old[where] != new[where]]
    if differ == both and len({old[where] for where in both}) == 1:
        yield Change(f"times: only {_when(old[both[0]])}", False)
    else:
        yield from (Change(f"{where}: timed only {_when(old[where])}", False) for where in differ)


def _of_runs(before: Run, after: Run, *, same_grad: bool) -> Iterable[Change]:
    for direction in get_args(Direction):
        where = f"{before.executor} {direction}"
        old, new = before.get(direction), after.get(direction)
        if old and new:
            yield from _of_counts(where, old, new)
            yield from _of_times(where, old, new)
        elif old or new:
            yield Change(f"{where}: only {_when(old is not None)}", same_grad or direction == "forward")


def _of_counts(where: str, before: Pass, after: Pass) -> Iterable[Change]:
    counts = {
        "regions": (len(before.regions), len(after.regions)),
        "nvFuser segments": (before.segments, after.segments),
        "kernels generated": (len(before.kernels), len(after.kernels)),
        "kernels launched": (len(before.launches), len(after.launches)),
    }
    for what, (old, new) in counts.items():
        if old != new:
            yield Change(f"{where}: {what} {old} -> {new}", True)


def _of_times(where: str, before: Pass, after: Pass) -> Iterable[Change]:
    us = {timing.l2: timing.kernel_us for timing in before.timings}
    for new in after.timings:
        old = us.get(new.l2)
        if old and not 1 / NOISE < (ratio := new.kernel_us / old) < NOISE:
            times = f"{old:.1f} -> {new.kernel_us:.1f} µs ({ratio:.2f} times, {new.l2} L2)"
            yield Change(f"{where}: kernels take {times}", False)


def _when(before: bool) -> str:
    return "before" if before else "now"
