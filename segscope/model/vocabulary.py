"""nvFuser's words that the models and their users share."""

from typing import Final

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

METADATA_KINDS: Final = frozenset(
    {"reshape", "permute", "slice", "squeeze", "broadcast", "expand", "set", "segmenter_set"}
)
"""Kinds of expression that move no data when nvFuser evaluates them alone: the result is a view of the input."""
