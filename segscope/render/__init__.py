"""From the model to pictures and tables: DOT text, SVG, PNG, PDF, rich tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from segscope.errors import RenderError

if TYPE_CHECKING:
    from segscope.model import SegmentedFusion

__all__ = ["SUFFIXES", "draw", "format_of", "picture"]

SUFFIXES: Final = (".svg", ".png", ".pdf", ".dot")


def draw(fusion: SegmentedFusion, path: str | Path, title: str | None = None) -> str:
    """Draw a fusion into a file whose suffix says the format (SUFFIXES), and return the name of what drew it.

    Raises RenderError where the suffix is unknown, nothing can draw, or the file cannot be written.
    """
    data, engine = picture(fusion, format_of(path), title)
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise RenderError(f"{path}: {error.strerror or error}") from None
    return engine


def picture(fusion: SegmentedFusion, format: str, title: str | None = None) -> tuple[bytes, str]:
    """Return a fusion as ``svg``, ``png``, ``pdf`` or ``dot``, and the name of what drew it."""
    from segscope.render.dot import to_dot

    text = to_dot(fusion, title)
    if format == "dot":
        return text.encode("utf-8"), "segscope"
    from segscope.render import engine

    return engine.draw(text, format)


def format_of(path: str | Path) -> str:
    """Return the format that a file name asks for: ``svg`` for ``segments.svg``. RenderError where it is not known."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise RenderError(f"{path}: the suffix says the format, one of {', '.join(SUFFIXES)}")
    return suffix[1:]
