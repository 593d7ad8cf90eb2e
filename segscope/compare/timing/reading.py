"""Files with kernel times: a Chrome trace, nvFuser's profile as JSON, Nsight's CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from segscope.compare.timing.kernels import Launch, collect, has_group
from segscope.compare.timing.model import KernelTimes
from segscope.compare.timing.tables import launches_in
from segscope.dump.source import whole
from segscope.errors import SegscopeError

Record = Mapping[str, Any]

_LATEST: Final = 1e16
"""Microseconds: some 300 years after 1970."""


def read(path: str | Path) -> KernelTimes:
    """Read the times of nvFuser's kernels from a file, compressed or not; ``-`` is standard input.

    It may be

    * a Chrome trace, which ``torch.profiler`` writes with ``export_chrome_trace``;
    * nvFuser's profile of a fusion as JSON, or a list of such: ``from_profiles``;
    * CSV of Nsight Systems, ``nsys stats --report cuda_gpu_trace --format csv`` or ``cuda_gpu_kern_sum``, or of Nsight
      Compute, ``ncu --csv`` with the metric ``Duration`` or ``gpu__time_duration.sum``, ``--page raw`` or not.

    Raises SegscopeError where it cannot be read, is none of these, or has no kernel of nvFuser with a group's number.
    """
    source = str(path)
    text = whole(path).decode("utf-8-sig", errors="replace")
    if text.lstrip().startswith(("{", "[")):
        return _times(source, _from_json(text, source))
    return _times(source, launches_in(text, source))


def from_profiles(*profiles: Record, source: str = "profile") -> KernelTimes:
    """Return the times in profiles of nvFuser's own profiler, one for each run of a fusion.

    nvFuser's objects (csrc/fusion_profiler.h) are not JSON; this makes of them what is read here:

        with nvfuser_direct.PythonProfiler() as profiler:
            fd.execute(inputs)
        fields = ("name", "segment_id", "scheduler", "time_ms")
        kernels = profiler.profile.kernel_profiles
        profile = {
            "fusion_id": profiler.profile.fusion_id,
            "kernel_profiles": [{field: getattr(kernel, field) for field in fields} for kernel in kernels],
        }

    ``segment_id`` (the group id) and ``scheduler`` count where the name has no group. Raises SegscopeError where one is
    no such profile, or no kernel is of a group.
    """
    return _times(source, _profiled(profiles, source))


def _times(source: str, launches: Iterable[Launch]) -> KernelTimes:
    kernels = collect(launches)
    if not kernels:
        raise SegscopeError(f"{source}: no kernel of nvFuser whose name has a group (nvfuser_..._f0_c1_r0_g<group id>)")
    return KernelTimes(source=source, kernels=kernels)


def _from_json(text: str, source: str) -> Iterator[Launch]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SegscopeError(f"{source}: no valid JSON: {error}") from None
    items = data.get("traceEvents", [data]) if isinstance(data, dict) else data
    records = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    if any("kernel_profiles" in record for record in records):
        return _profiled(records, source)
    if any("ph" in record for record in records):
        return _traced(records, source)
    raise SegscopeError(f"{source}: neither a Chrome trace (traceEvents) nor a profile of nvFuser (kernel_profiles)")


def _traced(events: Iterable[Record], source: str) -> Iterator[Launch]:
    """Yield the kernels of a Chrome trace, whose times are in microseconds."""
    kernels = (event for event in events if event.get("ph") == "X" and event.get("cat") == "kernel")
    for event in sorted(kernels, key=lambda event: _number(event, "ts", source)):
        yield Launch(str(event.get("name")), _number(event, "dur", source))


def _profiled(profiles: Iterable[Record], source: str) -> Iterator[Launch]:
    for profile in profiles:
        kernels = profile.get("kernel_profiles")
        if not isinstance(kernels, Sequence):
            raise SegscopeError(f"{source}: a profile of nvFuser has a list kernel_profiles, this has none")
        for kernel in kernels:
            if not isinstance(kernel, Mapping):
                raise SegscopeError(f"{source}: kernel_profiles holds {kernel!r:.40}, which is no kernel's profile")
            name = str(kernel.get("name") or "")
            if not name:  # a group that launched nothing has an empty profile, whose segment_id is 0
                continue
            if not has_group(name) and "segment_id" in kernel:
                name = f"nvfuser_{kernel.get('scheduler')}_f{profile.get('fusion_id', 0)}_c0_r0_g{kernel['segment_id']}"
            yield Launch(name, 1000 * _number(kernel, "time_ms", source))


def _number(record: Record, field: str, source: str) -> float:
    value = record.get(field)
    if isinstance(value, (int, float)) and 0 <= value < _LATEST:
        return float(value)
    raise SegscopeError(f"{source}: {record.get('name')!r:.60} has {field} {value!r:.40}, which is no time")
