"""A number of groups that knows what was counted, so that a failed test can show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

    from segscope.model.capture import Capture
    from segscope.model.fusion import SegmentedFusion


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
        return made

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)
