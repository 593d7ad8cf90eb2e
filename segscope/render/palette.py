"""The one palette: a colour with fixed meaning for each scheduler, the same in every picture.

The hues start from those of Okabe and Ito (Color Universal Design, 2008); the fills stay apart with any form of colour
vision (the tests simulate each). Every fill is light and every text dark, so that a picture with its own white
background reads on white and in dark mode. A colour is never the only carrier of a fact: each box also names its
scheduler, and borders tell kernel groups.
"""

from __future__ import annotations

from typing import Final, NamedTuple

BACKGROUND: Final = "#ffffff"
TEXT: Final = "#1a1a1a"
QUIET_TEXT: Final = "#555555"
QUIET_LINE: Final = "#999999"
CUT_LINE: Final = "#333333"


class Style(NamedTuple):
    """How a box is drawn: colours as ``#rrggbb``, border width in points."""

    fill: str
    border: str
    text: str
    border_style: str
    border_width: float


_HUES: Final = {
    "pointwise": ("#8ecbf2", "#00507d"),
    "resize": ("#f7b955", "#8a5600"),
    "transpose": ("#e08dce", "#8a3f6b"),
    "reduction": ("#72b39f", "#00604a"),
    "inner_persistent": ("#fd9a65", "#8f3c00"),
    "outer_persistent": ("#f3cab6", "#8f3c00"),
    "inner_outer_persistent": ("#d0a787", "#7a2500"),
    "persistent": ("#fd9a65", "#8f3c00"),
    "matmul": ("#f4e95f", "#6e6600"),
    "cutlass": ("#c8d827", "#5c5500"),
    "expr_eval": ("#f2d8ff", "#5b4a82"),
    "greedy": ("#b2e489", "#3f6b12"),
    "communication": ("#8fa3ed", "#2f3f8f"),
    "no_op": ("#dedede", "#4d4d4d"),
    "none": ("#ffffff", "#4d4d4d"),
}
"""Fill and border. ``persistent`` is the older word for what became three, so it shares a colour with one of them."""

_NEUTRAL: Final = ("#b8bfc9", "#3d454b")


def kernel_style(scheduler: str) -> Style:
    """Return the loud style of a kernel group: full colour, thick border. A scheduler that is not known is neutral."""
    fill, border = _HUES.get(scheduler, _NEUTRAL)
    return Style(fill, border, TEXT, "solid", 3.0)


def metadata_style(scheduler: str) -> Style:
    """Return the quiet style of a group that launches no kernel: pale, thin dashed grey border."""
    fill, _ = _HUES.get(scheduler, _NEUTRAL)
    return Style(_pale(fill), QUIET_LINE, QUIET_TEXT, "dashed", 1.0)


def _pale(colour: str, keep: float = 0.3) -> str:
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - c) * keep):02x}" for c in channels)
