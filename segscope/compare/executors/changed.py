"""What changed between two comparisons of the same executors: an earlier one and a later one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from segscope.compare.executors.model import Comparison, Pass
from segscope.errors import SegscopeError

NOISE: Final = 1.1
"""Times are told where they differ by more than this factor."""


class Change(NamedTuple):
    """One number that changed."""

    text: str
    is_of_kernels: bool
    """Whether it counts regions, segments, kernels or launches, rather than time."""


def read(file: Path) -> Comparison:
    """Read a comparison.json; SegscopeError for a file that is none."""
    try:
        return Comparison.model_validate_json(file.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError):
        raise SegscopeError(
            f"{file} is no comparison of executors: give a comparison.json of segscope executors"
        ) from None


def changes(before: Comparison, after: Comparison) -> tuple[Change, ...]:
    """Return what changed: the workload, numbers of the passes that both have, and the passes that only one has."""
    old = {(run.executor, one.direction): one for run in before.runs for one in run.passes}
    new = {(run.executor, one.direction): one for run in after.runs for one in run.passes}
    found = [*_of_workloads(before, after)]
    for key in {**old, **new}:
        where = " ".join(key)
        if key not in new or key not in old:
            found.append(Change(f"{where}: only {'before' if key in old else 'now'}", True))
        else:
            found += _of_counts(where, old[key], new[key])
            found += _of_times(where, old[key], new[key])
    return tuple(found)


def _of_workloads(before: Comparison, after: Comparison) -> Iterable[Change]:
    old, new = ({"workload": one.workload, **one.options} for one in (before, after))
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield Change(f"{name}: {old.get(name)} -> {new.get(name)}", False)


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
