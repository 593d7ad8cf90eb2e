"""How kernels that do the same work are marked: a letter, and a fill that stays apart with any colour vision."""

from __future__ import annotations

from typing import Final

from segscope.render.palette import TEXT, Style

FILLS: Final = (
    ("#55dcf5", "#005a6b"),
    ("#f5d981", "#6e5200"),
    ("#f280bc", "#86164f"),
    ("#4bbc41", "#17550f"),
    ("#b993ff", "#4a2f8f"),
    ("#ce9a8f", "#6b2f22"),
    ("#adf6b7", "#1d6b2a"),
    ("#b4d233", "#4f5f00"),
)
"""Fill and border. They come again where there are more kinds of work; letters do not."""


def work_style(number: int) -> Style:
    """Return how to draw a kernel whose work has this number (``colours.colours``)."""
    fill, border = FILLS[number % len(FILLS)]
    return Style(fill, border, TEXT, "solid", 2.0)


def letter(number: int) -> str:
    """Return ``A`` for 0, ``Z`` for 25, ``AA`` for 26, ..."""
    text = ""
    while number >= 0:
        number, rest = divmod(number, 26)
        text = chr(ord("A") + rest) + text
        number -= 1
    return text
