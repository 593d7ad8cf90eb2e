"""What of a fusion to draw, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from segscope.checks import Finding
    from segscope.compare.timing import Overlay

Level = Literal["groups", "expressions"]


@dataclass(frozen=True)
class View:
    """What of a fusion to draw, and how; by default all of it, one box a group."""

    level: Level = "groups"
    """One box a group, or one node an expression inside its group."""
    focus: tuple[int, ...] = ()
    """Indices of groups: only they and the groups near them are drawn."""
    radius: int = 1
    """How many cuts away a group may be from one that ``focus`` or ``query`` names, in either direction."""
    query: str | None = None
    """A regular expression: the groups in which it is found are in focus (``segscope.render.selection``)."""
    collapse: bool = False
    """Draw metadata groups as small boxes, those between the same kernel groups as one."""
    findings: tuple[Finding, ...] = ()
    """Findings on this fusion: errors and warnings are marked."""
    times: Overlay | None = None
    """Measured times of this fusion's kernels, which its kernel groups show."""
