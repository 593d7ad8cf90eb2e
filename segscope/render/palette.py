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
FINDING_LINE: Final = "#d1005d"
"""Border, line and text of what a rule found; the rule's name stands beside it."""


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


OPERATIONS: Final = {
    "slice": ("invtrapezium", "#7a2e0e", "#ffffff"),
    "pad": ("trapezium", "#7a2e0e", "#ffffff"),
    "cat": ("hexagon", "#7a2e0e", "#ffffff"),
    "cast": ("ellipse", "#244a73", "#ffffff"),
}
"""Shape, fill and text of the expressions to look for: a slice narrows, a pad widens, a cat joins. They are dark, as no
scheduler is; all others are boxes on white."""


class Shape(NamedTuple):
    """How an expression is drawn: a shape of Graphviz, and colours as ``#rrggbb``."""

    shape: str
    fill: str
    text: str


def operation_shape(kind: str) -> Shape:
    """Return the shape and the colours of an expression of this kind."""
    return Shape(*OPERATIONS.get(kind, ("box", BACKGROUND, TEXT)))


def kernel_style(scheduler: str) -> Style:
    """Return the loud style of a kernel group: full colour, thick border. A scheduler that is not known is neutral."""
    fill, border = _HUES.get(scheduler, _NEUTRAL)
    return Style(fill, border, TEXT, "solid", 3.0)


def metadata_style(scheduler: str) -> Style:
    """Return the quiet style of a group that launches no kernel: pale, thin dashed grey border."""
    fill, _ = _HUES.get(scheduler, _NEUTRAL)
    return Style(_pale(fill), QUIET_LINE, QUIET_TEXT, "dashed", 1.0)


def _pale(colour: str) -> str:
    """Mix a colour with white, seven parts of ten."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - c) * 0.3):02x}" for c in channels)


# What a picture of a diff shows: a fill and a border for each kind of change (``segscope.compare.changes``).

_CHANGES: Final = {
    "merged": ("#b0d2fb", "#00507d"),
    "split": ("#f7af29", "#8a5600"),
    "scheduler changed": ("#aa98f5", "#4a2f8f"),
    "moved": ("#f0d29b", "#6e5200"),
    "appeared": ("#52b6a4", "#00604a"),
    "vanished": ("#fd8254", "#8f2a00"),
}
_UNCHANGED: Final = ("#f4f4f4", QUIET_LINE)


def change_style(kind: str | None, kernel: bool) -> Style:
    """Return the style of a group with a change of this kind, or of what did not change; kernel groups are louder."""
    fill, border = _CHANGES[kind] if kind else _UNCHANGED
    text = TEXT if kind or kernel else QUIET_TEXT
    return Style(fill, border, text, "solid" if kernel else "dashed", 3.0 if kernel else 1.0)
