"""What a test counted last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from segscope.asserts.message import groups_text
from segscope.model import Capture, SegmentedFusion

_MOST: Final = 2


def counted_last(counted: Iterable[SegmentedFusion | Capture], captures: Sequence[Capture]) -> str:
    """Return the groups of the two that were counted last, as text; empty where nothing was.

    Where more than one fusion of a capture was counted, it is the capture that was.
    """
    found: dict[int, SegmentedFusion | Capture] = {}
    for one in counted:
        whole = next((capture for capture in captures if any(fusion is one for fusion in capture.fusions)), one)
        before = found.pop(id(whole), one)
        found[id(whole)] = one if before is one else whole
    return "\n\n".join(map(groups_text, list(found.values())[-_MOST:]))
