"""What the readers of the parts of a dump share: pieces of text with their lines, and how a part takes lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Text(NamedTuple):
    """A piece of the source, and the line where it begins, from 1."""

    text: str
    line: int


class Part(Protocol):
    """A part of a dump that takes its lines, as many at a time as there are: a log has too many for a call each."""

    done: bool
    """Whether the part is whole, or met a line that is not its own."""

    def take(self, texts: Sequence[str], at: int, first_line: int) -> int:
        """Take lines from ``texts[at]`` on, which is line ``first_line + at`` of the source.

        Return the position behind those taken: the end of ``texts`` unless the part is done.
        """
        ...
