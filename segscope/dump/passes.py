"""What nvFuser's passes did to a fusion before it was segmented (docs/dump-format.md 3.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from segscope.dump import statements
from segscope.dump.scan import UnbalancedError
from segscope.dump.values import Names

BEFORE: Final = "Fusion before PreSegmenter:"
AFTER: Final = "Fusion after pass: "
SEGMENT_SET: Final = "Will put a segment_set at "

_MATH_BEGIN: Final = "%kernel_math {"
_TENSOR = re.compile(r"T\d+")


class PassLog:
    """The passes that changed one fusion, in order."""

    def __init__(self) -> None:
        self.changes: list[dict[str, Any]] = []
        self._before: list[str] | None = None
        self._segment_sets: list[str] = []
        self._names = Names()

    def begin(self, name: str | None) -> MathBlock:
        """Take the fusion as it is at the beginning (None), or after the pass of that name."""
        if name is None:
            self._before = None
        return MathBlock(self, name)

    def segment_set(self, text: str) -> None:
        """Note where the next pass will put a hint to cut."""
        if match := _TENSOR.match(text.removeprefix(SEGMENT_SET)):
            self._segment_sets.append(match.group())

    def unchanged(self, texts: Sequence[str], at: int) -> int:
        """Return how many lines from ``texts[at]`` on are the fusion as it was before: all of it, or 0."""
        before = self._before or []
        return len(before) if texts[at : at + len(before)] == before else 0

    def end(self, name: str | None, lines: list[str]) -> None:
        """Compare the fusion after a pass with what it was before."""
        before, self._before = self._before, lines
        if before is None or name is None or before == lines:
            return
        old, new = _statements(before), _statements(lines)
        self.changes.append(
            {
                "name": name,
                "added": [self._record(text) for key, text in new.items() if old.get(key) != text],
                "removed": [self._record(text) for key, text in old.items() if new.get(key) != text],
                "segment_sets": self._segment_sets,
            }
        )
        self._segment_sets = []

    def _record(self, text: str) -> dict[str, Any]:
        try:
            record = statements.parse(text, 0, self._names)
        except UnbalancedError:
            record = statements.unknown(text, 0)
        return {name: record[name] for name in ("kind", "op", "outputs", "inputs", "text")}


class MathBlock:
    """A whole fusion in the math form, up to the brace that ends it."""

    def __init__(self, log: PassLog, name: str | None) -> None:
        self.done = False
        self._log = log
        self._name = name
        self._lines: list[str] | None = None

    def take(self, texts: Sequence[str], at: int, first_line: int) -> int:
        """Take lines of the block."""
        if self._lines is None:
            while at < len(texts) and not texts[at].startswith(_MATH_BEGIN):
                if texts[at] and not texts[at].startswith(("Inputs:", "Outputs:", "  ")):
                    self.done = True
                    return at
                at += 1
            if at == len(texts):
                return at
            self._lines = []
            at += 1
        for position in range(at + self._log.unchanged(texts, at), len(texts)):
            if texts[position][:1] == "}":
                self._lines += texts[at:position]
                self._log.end(self._name, self._lines)
                self.done = True
                return position + 1
        self._lines += texts[at:]
        return len(texts)


def _statements(lines: list[str]) -> dict[str, str]:
    """Return the statements by the text of their outputs; several outputs have a line each, which ends in a comma."""
    statements: list[list[str]] = []
    before = ""
    for line in lines:
        if line[:1] in ("", " ") or before[-1:] == ",":
            if statements:
                statements[-1].append(line)
        else:
            statements.append([line])
        before = line
    texts = ("\n".join(statement).rstrip() for statement in statements)
    return {text.partition("=")[0]: text for text in texts}
