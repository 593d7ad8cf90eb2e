"""What differs between two segmentations: which groups split, merged, appeared, and what moved between them."""

from segscope.compare.changes import (
    Appeared,
    Change,
    Merged,
    Moved,
    Names,
    Operation,
    Place,
    SchedulerChanged,
    Split,
    Vanished,
)
from segscope.compare.diff import Diff, FusionDiff, Side, diff

__all__ = [
    "Appeared",
    "Change",
    "Diff",
    "FusionDiff",
    "Merged",
    "Moved",
    "Names",
    "Operation",
    "Place",
    "SchedulerChanged",
    "Side",
    "Split",
    "Vanished",
    "diff",
]
