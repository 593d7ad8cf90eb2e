"""Bracket-aware scanning, without regular expressions that backtrack."""

import re
from functools import cache

from segscope.errors import SegscopeError

_BRACKET = re.compile(r"[\[\]{}()]")
_OPENING = "[{("
_CLOSING = "]})"


class UnbalancedError(SegscopeError):
    """Brackets of a value or a statement do not match, or hold something else than they must."""


def depth_after(text: str) -> int:
    """Return the bracket depth after ``text``, where all three kinds count alike."""
    opening = text.count("(") + text.count("[") + text.count("{")
    return opening - text.count(")") - text.count("]") - text.count("}")


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at ``start``."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        depth += 1 if match[0] in _OPENING else -1
        if depth == 0:
            return match.start()
    raise UnbalancedError(f"unbalanced brackets in {text[:80]!r}")


def split(text: str, separator: str) -> list[str]:
    """Split at the separators that stand outside every bracket; a separator holds no bracket itself."""
    if not _BRACKET.search(text):
        return text.split(separator)
    pieces: list[str] = []
    begin = depth = 0
    for match in _marks(separator).finditer(text):
        mark = match[0]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
        elif depth == 0:
            pieces.append(text[begin : match.start()])
            begin = match.end()
    return [*pieces, text[begin:]]


@cache
def _marks(separator: str) -> re.Pattern[str]:
    return re.compile(rf"[\[\]{{}}()]|{re.escape(separator)}")
