"""A number of groups that knows what was counted, so that a failed test can show it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing_extensions import Self

    from segscope.model.capture import Capture
    from segscope.model.fusion import SegmentedFusion

_MOST_NOTED: Final = 64
_noted: deque[SegmentedFusion | Capture] | None = None


@contextmanager
def noting() -> Iterator[deque[SegmentedFusion | Capture]]:
    """Note what is counted in the block: the last 64, in order."""
    global _noted
    before, _noted = _noted, deque(maxlen=_MOST_NOTED)
    try:
        yield _noted
    finally:
        _noted = before


class Count(int):
    """An int in everything; copied, pickled or computed with, it is a plain one."""

    counted: SegmentedFusion | Capture
    scheduler: str | None
    """None where kernel groups were counted."""

    def __new__(cls, number: int, counted: SegmentedFusion | Capture, scheduler: str | None) -> Self:
        """Make a number."""
        made = super().__new__(cls, number)
        made.counted = counted
        made.scheduler = scheduler
        if _noted is not None:
            _noted.append(counted)
        return made

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)
