"""From the model to pictures and tables: DOT text, SVG, PNG, PDF, Mermaid, HTML, Model Explorer, rich tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from segscope.errors import RenderError

if TYPE_CHECKING:
    from segscope.model import Capture, SegmentedFusion
    from segscope.render.view import View

__all__ = ["SUFFIXES", "draw", "format_of", "picture"]

SUFFIXES: Final = (".svg", ".png", ".pdf", ".dot", ".mmd", ".md", ".html", ".json")
"""Drawings; DOT text; Mermaid, alone and as a code block for Markdown; a page; a graph for Model Explorer."""


def draw(
    fusion: SegmentedFusion | Capture, path: str | Path, title: str | None = None, view: View | None = None
) -> str:
    """Draw a fusion, or a capture of one, into a file, and return the name of what drew it.

    The suffix says the format (SUFFIXES). ``title`` goes before the counts above the picture; ``view`` says what
    of it is drawn.

    Raises RenderError where the suffix is unknown, nothing can draw, or the file cannot be written, and SegscopeError
    for a capture of several fusions. A drawing that fails or takes too long leaves its DOT text beside ``path``, and
    the error names it.
    """
    from segscope.model import Capture
    from segscope.render.engine import save

    one = fusion.fusion if isinstance(fusion, Capture) else fusion
    format = format_of(path)
    return save(path, lambda: picture(one, format, title, view))


def picture(
    fusion: SegmentedFusion, format: str, title: str | None = None, view: View | None = None
) -> tuple[bytes, str]:
    """Return a fusion in a format (a suffix of SUFFIXES without its dot), and the name of what drew it.

    Only ``svg``, ``png`` and ``pdf`` need a drawing program; without one ``html`` has a table in the picture's place.
    """
    if format in ("svg", "png", "pdf"):
        from segscope.render import engine
        from segscope.render.dot import to_dot

        return engine.draw(to_dot(fusion, title, view), format)
    text, drawn_by = _text(fusion, format, title, view)
    return text.encode("utf-8", errors="replace"), drawn_by


def format_of(path: str | Path) -> str:
    """Return the format that a file name asks for: ``svg`` for ``segments.svg``. RenderError where it is not known."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise RenderError(f"{path}: the suffix says the format, one of {', '.join(SUFFIXES)}")
    return suffix[1:]


def _text(fusion: SegmentedFusion, format: str, title: str | None, view: View | None) -> tuple[str, str]:
    if format == "html":
        from segscope.render.html import to_html

        return to_html(fusion, title, view)
    if format == "json":
        from segscope.render.model_explorer import to_model_explorer

        return to_model_explorer(fusion, title, view), "segscope"
    if format == "dot":
        from segscope.render.dot import to_dot

        return to_dot(fusion, title, view), "segscope"
    if format in ("mmd", "md"):
        from segscope.render.mermaid import to_markdown, to_mermaid

        return (to_mermaid if format == "mmd" else to_markdown)(fusion, title, view), "segscope"
    raise RenderError(f"cannot draw {format!r}; formats: {', '.join(suffix[1:] for suffix in SUFFIXES)}")
