"""What pictures say about measured times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from segscope.model import Group, SegmentedFusion
from segscope.render import words

if TYPE_CHECKING:
    from segscope.compare.timing import Overlay


def total(times: Overlay) -> str:
    """Return ``kernels 90.1 µs (trace.json.gz)``, and how many kernel groups are left out of the sum."""
    parts = [f"kernels {times.us:.1f} µs ({Path(times.source).name})"]
    if times.untimed:
        parts.append(f"{words.count(len(times.untimed), 'kernel group')} without a time")
    return words.SEPARATOR.join(parts)


def time(fusion: SegmentedFusion, group: Group, times: Overlay | None) -> list[str]:
    """Return ``45.2 µs · 50% · 3,757 GB/s`` for a kernel group, the last where it is known; no line for the others."""
    if times is None or not fusion.launches_kernel(group):
        return []
    found = times.get(group.index)
    if found is None:
        return ["no time"]
    rate = [] if found.bandwidth is None else [f"{found.bandwidth:,.0f} GB/s"]
    return [words.SEPARATOR.join([f"{found.us:.1f} µs", f"{found.share:.0%}", *rate])]


def launches(group: Group, times: Overlay | None) -> list[str]:
    """Return ``median of 5 launches of nvfuser_resize_f0_c1_r0_g4`` for a group that has a time."""
    found = times.get(group.index) if times else None
    if found is None:
        return []
    of = f"of {found.kernel}"
    return [f"one launch {of}" if found.launches == 1 else f"median of {found.launches:,} launches {of}"]
