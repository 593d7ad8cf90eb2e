"""nvFuser's words that the models and their users share."""

from collections.abc import Iterable
from typing import Final

from segscope.errors import SegscopeError

SCHEDULERS: Final = (
    "no_op",
    "pointwise",
    "resize",
    "transpose",
    "reduction",
    "inner_persistent",
    "outer_persistent",
    "inner_outer_persistent",
    "persistent",
    "matmul",
    "expr_eval",
    "greedy",
    "communication",
    "cutlass",
    "none",
)
"""Scheduler names that some nvFuser since March 2023 prints.

``persistent`` was split in three in September 2023; ``no-op``, an older spelling, is read as ``no_op``. Source:
``operator<<`` of ``SchedulerType`` in csrc/scheduler/scheduler_types.cpp, and its history.
"""


def check_scheduler(name: str, present: Iterable[str]) -> None:
    """Raise SegscopeError for a scheduler that no known nvFuser has and that is not ``present`` either."""
    if name not in SCHEDULERS and name not in present:
        raise SegscopeError(f"unknown scheduler {name!r}; valid: {', '.join(SCHEDULERS)}")


METADATA_KINDS: Final = frozenset(
    {"reshape", "permute", "slice", "squeeze", "broadcast", "expand", "set", "segmenter_set"}
)
"""Kinds of expression that move no data when nvFuser evaluates them alone: the result is a view of the input."""
