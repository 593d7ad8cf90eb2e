"""Whether two segmentations of a fusion are the same, whatever makes their kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segscope.compare.changes import Change
from segscope.compare.diff import diff
from segscope.model import SegmentedFusion

if TYPE_CHECKING:
    from segscope.segmenter.run import Simulation


def moved(real: SegmentedFusion, simulated: SegmentedFusion) -> tuple[Change, ...]:
    """Return what differs in the partition; which scheduler makes a group is left out, and so are numbers and order."""
    return tuple(change for change in diff(real, simulated).changes if change.kind != "scheduler changed")


def inexact(real: SegmentedFusion, own: Simulation) -> str:
    """Say why what the segmenter makes by its own choices is not the dump; empty where it is.

    Where it is not, what it makes by other choices proves nothing.
    """
    if own.unknown:
        return unknown(own)
    changes = moved(real, own.fusion)
    return changes[0].explain() if changes else ""


def unknown(simulation: Simulation) -> str:
    """Name the first set that was offered and of which nothing is known."""
    names = sorted(simulation.unknown[0].tensors, key=lambda name: int(name[1:]))
    return f"nothing is known of {'+'.join(names[:6])}{'+...' if len(names) > 6 else ''}"
