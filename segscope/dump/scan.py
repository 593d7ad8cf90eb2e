"""Bracket-aware scanning, without regular expressions that backtrack."""

import re
from collections.abc import Iterator

from segscope.errors import SegscopeError

_BRACKET = re.compile(r"[\[\]{}()]")
_OPENING = frozenset("[{(")


class UnbalancedError(SegscopeError):
    """Brackets in a statement do not match."""


def depth_after(text: str, depth: int = 0) -> int:
    """Return the bracket depth after ``text``, where all three kinds count alike."""
    for match in _BRACKET.finditer(text):
        depth += 1 if match.group() in _OPENING else -1
    return depth


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at ``start``."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        depth += 1 if match.group() in _OPENING else -1
        if depth == 0:
            return match.start()
    raise UnbalancedError(f"unbalanced brackets in {text[:80]!r}")


def split(text: str, separator: str) -> list[str]:
    """Split at the separators that stand outside every bracket."""
    return list(_pieces(text, separator))


def _pieces(text: str, separator: str) -> Iterator[str]:
    begin, searched, depth = 0, 0, 0
    while (at := text.find(separator, searched)) >= 0:
        depth = depth_after(text[searched:at], depth)
        searched = at + len(separator)
        if depth == 0:
            yield text[begin:at]
            begin = searched
        else:
            depth = depth_after(separator, depth)
    yield text[begin:]
