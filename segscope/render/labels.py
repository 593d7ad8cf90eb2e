"""Text for DOT labels and tooltips: what a dump says is always shown as text, never read as markup.

Graphviz reads a label as HTML where it is written ``<...>``, expands ``\\n``, ``\\N``, ``\\G``, ... in it, and
replaces entities such as ``&lt;`` (graphviz.org/docs/attr-types/escString). Braces and bars mean something in record
shapes only, which segscope does not draw.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

LINE_LIMIT: Final = 120
"""Characters in one line of a label."""
TOOLTIP_BYTES: Final = 16_000
"""UTF-8 bytes of a tooltip in DOT text; Graphviz 2 refuses strings of 16384 and more."""
TOOLTIP_LIMIT: Final = TOOLTIP_BYTES // len("&amp;")
"""Characters that are kept of a tooltip that is too long, whatever they are."""

_SPACES: Final = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFFFE, 0xFFFF)
_SURROGATES: Final = range(0xD800, 0xE000)
_REPLACED: Final = dict.fromkeys(_SPACES, " ") | dict.fromkeys(_SURROGATES, "\ufffd")
"""What XML 1.0 or a layout engine refuses: controls, line separators and non-characters; lone surrogates."""


def label(lines: Iterable[str]) -> str:
    """Return a DOT label of one or more lines, each cut at LINE_LIMIT characters."""
    from graphviz import nohtml

    cut_lines = (cut(line, LINE_LIMIT) for text in lines for line in text.splitlines() or [""])
    quoted: str = nohtml("\\n".join(_escape(line, r"\\") for line in cut_lines))
    return quoted


def tooltip(text: str) -> str:
    """Return a DOT tooltip of the whole text, or of its beginning where it is longer than Graphviz takes."""
    from graphviz import nohtml

    escaped = _escape_tooltip(text)
    if len(escaped.encode()) + escaped.count('"') > TOOLTIP_BYTES:
        escaped = _escape_tooltip(cut(text, TOOLTIP_LIMIT))
    quoted: str = nohtml(escaped)
    return quoted


def cut(text: str, limit: int) -> str:
    """Return the text, or its beginning and an ellipsis: ``limit`` characters at most."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def wrap(words: Iterable[str], separator: str, width: int) -> list[str]:
    """Join words into lines of about ``width`` characters; a word is never broken."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(separator) + len(word) <= width:
            lines[-1] += separator + word
        else:
            lines.append(word)
    return lines


def printable(text: str) -> str:
    """Return the text with control characters replaced, so that neither a terminal nor an SVG reader acts on them."""
    return text.translate(_REPLACED)


def printable_lines(text: str) -> str:
    """Return lines with their other control characters replaced."""
    return "\n".join(map(printable, text.split("\n")))


def _escape_tooltip(text: str) -> str:
    """Graphviz expands the escapes of a tooltip twice."""
    return "\\n".join(_escape(line, r"\\\\") for line in text.splitlines())


def _escape(line: str, backslash: str) -> str:
    return printable(line).replace("\\", backslash).replace("&", "&amp;")
