"""Whether two segmentations of a fusion are the same, whatever makes their kernels."""

from __future__ import annotations

from segscope.compare.changes import Change
from segscope.compare.diff import diff
from segscope.model import SegmentedFusion


def moved(real: SegmentedFusion, simulated: SegmentedFusion) -> tuple[Change, ...]:
    """Return what differs in the partition; which scheduler makes a group is left out, and so are numbers and order."""
    return tuple(change for change in diff(real, simulated).changes if change.kind != "scheduler changed")
