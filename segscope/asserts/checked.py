"""What an assertion is about: a fusion, or a capture with its fusions."""

from __future__ import annotations

from segscope.errors import SegscopeError
from segscope.model import Capture, SegmentedFusion

__tracebackhide__ = True

Checked = SegmentedFusion | Capture
"""A fusion, or a capture for all its fusions; what is about one fusion refuses a capture of several."""


def fusions_of(checked: Checked) -> tuple[SegmentedFusion, ...]:
    """Return the fusions. AssertionError where a dump is incomplete: a test must not pass on half of it."""
    if isinstance(checked, SegmentedFusion):
        fusions: tuple[SegmentedFusion, ...] = (checked,)
    elif isinstance(checked, Capture):
        fusions = checked.fusions
    else:
        raise SegscopeError(f"expected a fusion or a capture, not {type(checked).__name__}")
    for fusion in fusions:
        if not fusion.complete:
            raise AssertionError(f"nothing can be asserted of half a dump: {fusion}")
    return fusions


def fusion_of(checked: Checked) -> SegmentedFusion:
    """Return the only fusion. SegscopeError where there are several, AssertionError where its dump is incomplete."""
    fusions = fusions_of(checked)
    if len(fusions) != 1 and isinstance(checked, Capture):
        which = f"capture.fusions[n], n from 0 to {len(fusions) - 1}"
        raise SegscopeError(f"{checked.source}: {len(fusions)} fusions, and this is about one: give {which}")
    return fusions[0]
