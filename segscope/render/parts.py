"""What each part of a picture stands for, by the title that Graphviz gives it: ``g3``, ``cut0``, ``g1->g3``."""

from __future__ import annotations

from typing import Any, NamedTuple

from segscope.model import Cut, SegmentedFusion
from segscope.render.selection import Box


class DrawnCuts(NamedTuple):
    """What a node or an edge stands for that is drawn of cuts."""

    cuts: tuple[Cut, ...]
    values: tuple[str, ...]
    """Of what these cuts carry, the values that it stands for."""


class Parts:
    """The parts of a picture, as they are drawn."""

    def __init__(self) -> None:
        self.groups: dict[str, Box] = {}
        """The groups, by the nodes and clusters."""
        self.expressions: dict[str, tuple[int, int]] = {}
        """Index of the group and id of the expression, by the nodes."""
        self.cuts: dict[str, DrawnCuts] = {}
        """Cuts, by the nodes and edges."""

    def as_facts(self, fusion: SegmentedFusion) -> dict[str, Any]:
        """Return the same for JSON, with the positions of cuts in ``fusion.cuts``."""
        position = {(cut.source, cut.target): place for place, cut in enumerate(fusion.cuts)}
        cuts = {
            title: {"cuts": [position[cut.source, cut.target] for cut in drawn.cuts], "values": drawn.values}
            for title, drawn in self.cuts.items()
        }
        return {"groups": self.groups, "expressions": self.expressions, "cuts": cuts}
