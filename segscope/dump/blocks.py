"""Find the blocks of a segmented fusion in a stream of lines (spec section 1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from segscope.dump.scan import depth_after

REWRITTEN = "Segmented_Fusion Dump: -- Re-written complete fusion:{"
REWRITTEN_END = "} // {Re-written complete fusion}"
SEGMENTS = "Segmented_Fusion Dump: -- fusion segments:"
SEGMENTS_END = "} //Segmented_Fusion"

_ID = re.compile(r"\((\d{1,18})\)")
_GROUP_ID = re.compile(r"group id: *(\d{1,18})")
_REFERENCE = re.compile(r"[\w-]+\{(?:\d{1,18}(?:, \d{1,18})*)?\}(?: \(merged\))?")
_GROUP = re.compile(r"g\{(?:\(([\w-]+)\))?")


class Text(NamedTuple):
    """A piece of the source, and the line where it begins, from 1."""

    text: str
    line: int


@dataclass
class GroupBlock:
    """One ``g{(scheduler) ... }`` block, as text."""

    scheduler: str
    id: int | None = None
    inputs: list[Text] = field(default_factory=list)
    outputs: list[Text] = field(default_factory=list)
    statements: list[tuple[Text, int]] = field(default_factory=list)
    """Each statement with its expression id."""


@dataclass
class FusionBlocks:
    """The blocks of one segmented fusion, as text."""

    first_line: int
    inputs: list[Text] = field(default_factory=list)
    outputs: list[Text] = field(default_factory=list)
    group_lines: list[Text] = field(default_factory=list)
    edges: list[Text] = field(default_factory=list)
    groups: list[GroupBlock] = field(default_factory=list)
    cut_off: Text | None = None
    """Where and what the source has instead of the end of this fusion; None where it has the end."""
    unusable: list[Text] = field(default_factory=list)
    """Lines that are none of the things that can stand there."""


class _EndOfInputError(Exception):
    pass


class _Lines:
    """Lines with their numbers, one of which can be looked at before it is taken."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._ahead: str | None = None
        self.number = 0

    def peek(self) -> str:
        if self._ahead is None:
            line = next(self._lines, None)
            if line is None:
                raise _EndOfInputError
            self._ahead = line.rstrip()
        return self._ahead

    def take(self) -> str:
        line = self.peek()
        self._ahead = None
        self.number += 1
        return line


@dataclass
class Source:
    """Counts the lines as they are read."""

    lines: int = 0


def find(lines: Iterable[str], source: Source) -> Iterator[FusionBlocks]:
    """Yield the segmented fusions among ``lines``; a fusion that the input cuts off comes last, not ``complete``."""
    cursor = _Lines(lines)
    boundary: tuple[list[Text], list[Text]] = ([], [])
    fusion: FusionBlocks | None = None
    try:
        while True:
            line = cursor.take()
            if line == REWRITTEN:
                boundary = _rewritten(cursor)
            elif line == SEGMENTS:
                fusion = FusionBlocks(cursor.number, *boundary)
                _segments(cursor, fusion)
                yield fusion
                fusion, boundary = None, ([], [])
    except _EndOfInputError:
        if fusion is not None:
            fusion.cut_off = Text("the end of the input", cursor.number)
            yield fusion
    finally:
        source.lines = cursor.number


def _rewritten(cursor: _Lines) -> tuple[list[Text], list[Text]]:
    """Read the inputs and outputs of the whole fusion; its statements come again in the groups."""
    inputs: list[Text] = []
    outputs: list[Text] = []
    into: list[Text] | None = None
    while (line := cursor.peek()) not in (REWRITTEN_END, SEGMENTS):
        cursor.take()
        if line == "Inputs:":
            into = inputs
        elif line == "Outputs:":
            into = outputs
        elif not line.startswith("  "):
            into = None
        elif into is not None:
            into.append(Text(line.strip(), cursor.number))
    return inputs, outputs


def _segments(cursor: _Lines, fusion: FusionBlocks) -> None:
    into = fusion.group_lines
    while True:
        line = cursor.peek()
        if line == SEGMENTS_END:
            cursor.take()
            return
        if line in (SEGMENTS, REWRITTEN):
            fusion.cut_off = Text("the beginning of another dump", cursor.number + 1)
            return
        cursor.take()
        if line == "groups:" or line == "Segmented_Fusion{" or line == "group details:" or not line:
            continue
        if line == "edges:":
            into = fusion.edges
        elif match := _GROUP.fullmatch(line):
            fusion.groups.append(GroupBlock((match.group(1) or "none").replace("-", "_")))
            _group(cursor, fusion, fusion.groups[-1])
        elif into is fusion.group_lines and _REFERENCE.fullmatch(line.strip()):
            into.append(Text(line.strip(), cursor.number))
        elif into is fusion.edges and line.lstrip().startswith("e{"):
            into.append(_edge(cursor, line.strip()))
        else:
            fusion.unusable.append(Text(line, cursor.number))


def _edge(cursor: _Lines, text: str) -> Text:
    """Read the rest of an edge: three lines until August 2024, one since."""
    line = cursor.number
    for _ in range(2):
        if depth_after(text) > 0:
            text += cursor.take()
    return Text(text, line)


def _group(cursor: _Lines, fusion: FusionBlocks, group: GroupBlock) -> None:
    into: list[Text] | None = None
    while line := cursor.take():
        if match := _GROUP_ID.fullmatch(line):
            group.id = int(match.group(1))
        elif line == "inputs:":
            into = group.inputs
        elif line == "outputs:":
            into = group.outputs
        elif into is not None:
            into.append(Text(line.strip(), cursor.number))
        else:
            fusion.unusable.append(Text(line, cursor.number))
    statement: list[str] = []
    while (line := cursor.peek()) not in (SEGMENTS, SEGMENTS_END, REWRITTEN):
        cursor.take()
        if match := _ID.fullmatch(line):
            begin = cursor.number - len(statement)
            group.statements.append((Text("\n".join(statement), begin), int(match.group(1))))
            statement = []
        elif line == "}" and not statement:
            return
        elif line or statement:
            statement.append(line)
