"""The blocks of a segmented fusion, gathered line by line (docs/dump-format.md 1.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from segscope.dump.foreign import foreign, heading
from segscope.dump.parts import Text
from segscope.dump.scan import depth_after
from segscope.errors import SegscopeError

REWRITTEN: Final = "Segmented_Fusion Dump: -- Re-written complete fusion:{"
REWRITTEN_END: Final = "} // {Re-written complete fusion}"
SEGMENTS: Final = "Segmented_Fusion Dump: -- fusion segments:"
SEGMENTS_END: Final = "} //Segmented_Fusion"
MOST_GROUPS: Final = 100_000
_HEADING_ENDS: Final = (":", "{")
_TRANSFORMS: Final = "TransformPrinter :"
_MATH_ENDS: Final = ("} // %kernel_math", "} // %kernel")
_STATEMENT: Final = frozenset(" idb")
"""How a line begins that can only be of a statement, where no list of values is open; a tensor's is like a heading."""

_ID = re.compile(r"\((\d{1,18})\)")
_VALUE = re.compile(r" *[Ti]\d")
_GROUP = re.compile(r"g\{(?:\(([\w-]+)\))?")
_STATEMENT_BEGIN = re.compile(
    r"\(? ?T\d+_|(?:ptr|var|f4x2_|[idfbcas])\d+ ="
    r"|Grouped\w+\(|(?:P2P)?Communication |CollectivePermute |Dispatch |Combine "
)
_FURTHER = re.compile(r" +(?:[-+*/%<>=!&|^,()]|[Tdibfcas]\d|[A-Za-z_][\w ]{0,40}=)")
"""How the further lines of a statement begin."""
_NUMBER = re.compile(r"\d+")
_GROUP_ID = re.compile(r"group id: *(\d{1,18})")
_REFERENCE = re.compile(r"[\w-]+\{(?:\d{1,18}(?:, \d{1,18})*)?\}(?: \(merged\))?")


def _begins_a_dump(text: str) -> bool:
    return text.endswith((SEGMENTS, REWRITTEN)) and heading(text) in (SEGMENTS, REWRITTEN)


@dataclass
class GroupBlock:
    """One ``g{(scheduler) ... }`` block, as text."""

    word: str
    """The scheduler as printed."""
    id: int | None = None
    inputs: list[Text] = field(default_factory=list)
    outputs: list[Text] = field(default_factory=list)
    statements: list[tuple[Text, int]] = field(default_factory=list)
    """Each statement with its expression id."""

    @property
    def scheduler(self) -> str:
        """The scheduler in today's spelling."""
        return self.word.replace("-", "_")


class RewrittenBlock:
    """The whole fusion before the segments: its inputs and outputs, and how the domains of its tensors came to be.

    Its statements are passed over: they come again in the groups.
    """

    def __init__(self, first_line: int) -> None:
        self.done = False
        self.first_line = first_line
        self.inputs: list[Text] = []
        self.outputs: list[Text] = []
        self.transforms: list[Text] = []
        self.has_transforms = False
        self.names_its_end = False
        """Whether the brace that ends the statements is commented, as it is since July 2024."""
        self._into: list[Text] | None = None

    def take(self, texts: Sequence[str], at: int, first_line: int) -> int:
        """Take lines of the block."""
        for position, raw in enumerate(texts[at:], at):
            into = self._into
            if into is None and raw[:1] in _STATEMENT:
                continue
            text = raw.rstrip()
            if text == REWRITTEN_END:
                self.done = True
                return position + 1
            if text.endswith(_HEADING_ENDS) and _begins_a_dump(text):
                self.done = True
                return position
            if text == "Inputs:":
                self._into = self.inputs
            elif text == "Outputs:":
                self._into = self.outputs
            elif text == _TRANSFORMS:
                self._into, self.has_transforms = self.transforms, True
            elif text in _MATH_ENDS:
                self._into, self.names_its_end = None, True
            elif into is self.transforms:
                into.append(Text(text, first_line + position))
            elif into is not None and text.startswith("  "):
                into.append(Text(text.strip(), first_line + position))
            else:
                self._into = None
        return len(texts)


class SegmentsBlock:
    """The ``fusion segments`` of one fusion: groups, edges, and the block of each group."""

    def __init__(self, first_line: int, rewritten: RewrittenBlock | None) -> None:
        self.done = False
        self.first_line = first_line
        self.rewritten = rewritten or RewrittenBlock(first_line)
        self.group_lines: list[Text] = []
        self.edges: list[Text] = []
        self.groups: list[GroupBlock] = []
        self.cut_off: Text | None = None
        """Where and what the source has instead of the end of this fusion; None where it has the end."""
        self.interrupted: Text | None = None
        """Where another dump began in the whole fusion that stood before these segments."""
        self.unusable: list[Text] = []
        """Lines that are none of the things that can stand there."""
        self.foreign: list[tuple[int, str]] = []
        """The lines of other programs that stand in between: where, and of which kind."""
        self._state: Callable[[str, int], None] = self._groups
        self._raw = ""
        self._statement: list[str] = []
        self._statement_line = 0
        self._values: list[Text] | None = None

    def take(self, texts: Sequence[str], at: int, first_line: int) -> int:
        """Take lines of the block."""
        for position, raw in enumerate(texts[at:], at):
            if raw[:1] == " " and self._statement and _FURTHER.match(raw):
                self._statement.append(raw)
                continue
            self._raw, text = raw, raw.rstrip()
            if raw[:1] in "T(" and raw:  # no heading begins so, and most lines do
                self._state(text, first_line + position)
                continue
            if text == SEGMENTS_END:
                self.done = True
                return position + 1
            if text.endswith(_HEADING_ENDS) and _begins_a_dump(text):
                self.done = True
                self.cut_off = Text("the beginning of another dump", first_line + position)
                return position
            self._state(text, first_line + position)
        return len(texts)

    def listed_ids(self, position: int) -> list[int]:
        """Return the expression ids in a line under ``groups:``."""
        reference = self.group_lines[position].text
        return sorted(map(int, _NUMBER.findall(reference[reference.index("{") :])))

    def end_of_input(self, line: int) -> None:
        """Note that nothing comes after ``line``."""
        self.cut_off = Text("the end of the input", line)

    def _groups(self, text: str, line: int) -> None:
        if text == "edges:":
            self._state = self._edges
        elif _REFERENCE.fullmatch(reference := text.strip()):
            self.group_lines.append(Text(reference, line))
        elif text and text not in ("Segmented_Fusion{", "groups:"):
            self._between(text, line)

    def _edges(self, text: str, line: int) -> None:
        if text.lstrip().startswith("e{"):
            self.edges.append(Text(text.strip(), line))
            if depth_after(text) > 0:  # three lines until August 2024
                self._state = self._rest_of_edge
        elif text and text != "group details:":
            self._between(text, line)

    def _rest_of_edge(self, text: str, line: int) -> None:
        if not text.startswith((" -> ", "(")):
            if not self._is_foreign(text, line):
                self._state = self._edges
                self._edges(text, line)
            return
        edge = self.edges[-1]
        self.edges[-1] = edge._replace(text=edge.text + text)
        if text.startswith("("):
            self._state = self._edges

    def _between(self, text: str, line: int) -> None:
        """Take a line that is not of the lists: a group block begins, or it is none of ours."""
        if match := _GROUP.fullmatch(text):
            if len(self.groups) == MOST_GROUPS:
                raise SegscopeError(f"line {line}: more than {MOST_GROUPS} groups in one fusion are not read")
            self.groups.append(GroupBlock(match.group(1) or "none"))
            self._values = None
            self._state = self._group_values
        else:
            self._stray(text, line)

    def _details(self, text: str, line: int) -> None:
        if text:
            self._between(text, line)

    def _group_values(self, text: str, line: int) -> None:
        group = self.groups[-1]
        if not text:
            self._state = self._statements
        elif text == "inputs:":
            self._values = group.inputs
        elif text == "outputs:":
            self._values = group.outputs
        elif match := _GROUP_ID.fullmatch(text):
            group.id = int(match.group(1))
        elif self._values is None:
            self._stray(text, line)
        elif not self._is_foreign(text, line):
            self._values.append(Text(text.strip(), line))

    def _statements(self, text: str, line: int) -> None:
        statement = self._statement
        if text[:1] == "(" and (match := _ID.fullmatch(text)):
            begin = Text("\n".join(statement), self._statement_line)
            self.groups[-1].statements.append((begin, int(match.group(1))))
            self._statement = []
        elif text == "}" and not statement:
            self._state = self._details
        elif statement and statement[-1].rstrip().endswith(","):  # another output
            statement.append(self._raw)
        elif _STATEMENT_BEGIN.match(text):
            self.unusable += [Text(lost, self._statement_line) for lost in statement[:1]]
            self._statement = [self._raw]
            self._statement_line = line
        elif text:
            self._stray(text, line)

    def _is_foreign(self, text: str, line: int) -> bool:
        if _VALUE.match(text) or not (kind := foreign(text)):
            return False
        self.foreign.append((line, kind))
        return True

    def _stray(self, text: str, line: int) -> None:
        if not self._is_foreign(text, line):
            self.unusable.append(Text(text, line))
