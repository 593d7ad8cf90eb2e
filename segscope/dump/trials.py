"""The segmenter's own words: what it tried to merge, and what each scheduler said (docs/dump-format.md 3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from segscope.dump.reasons import category

if TYPE_CHECKING:
    from segscope.model import Refusal

CONSIDERING: Final = "**Segmenter** Considering fusion:"
UNSEGMENTED: Final = "***Runtime***: Try to schedule fusion un-segmented:"
HINTS: Final = "***Runtime***: Has segment hints, skip un-segmented scheduling."
ACCEPTED: Final = "***Accepted*** as: "
REJECTED: Final = "Scheduler _"
RUNTIME: Final = "***Runtime***: "
_LONGEST_REASON: Final = 20
"""Further lines of a reason that are kept: an expression has fewer."""
_BECAUSE: Final = "_ ***rejected*** because :"

_OUTPUT = re.compile(r"(?:T|ptr|var|f4x2_|[idfbcas])\d+").match


@dataclass(slots=True)
class Trial:
    """What one set of expressions was told, as text."""

    line: int
    outputs: list[str] = field(default_factory=list)
    """Names of the values that the candidate's expressions define, in order."""
    refusals: list[Refusal] = field(default_factory=list)
    accepted: str | None = None


class SegmenterLog:
    """Everything that the segmenter says of one fusion: candidates, and what the schedulers answer."""

    def __init__(self) -> None:
        self.done = False
        self.whole: Trial | None = None
        self.has_hints = False
        self.trials: list[Trial] = []
        self._trial = Trial(0)
        self._in_candidate = False
        self._verdicts: dict[str, Refusal] = {}
        self._names = _FirstNames()

    def take(self, texts: Sequence[str], at: int, first_line: int) -> int:
        """Take headings, candidates, and verdicts, up to a line that is none of these."""
        position, end = at, len(texts)
        known = self._verdicts.get
        while position < end:
            text = texts[position]
            if verdict := known(text):
                self._trial.refusals.append(verdict)
            elif self._in_candidate:
                position = self._candidate(texts, position)
                continue
            elif not text or text.isspace():
                pass
            elif text.startswith(CONSIDERING):
                self._trial = Trial(first_line + position)
                self.trials.append(self._trial)
                self._in_candidate = True
            elif text.startswith(ACCEPTED):
                self._trial.accepted = text[len(ACCEPTED) :].strip().replace("-", "_")
            elif verdict := self._verdict(text):
                self._trial.refusals.append(verdict)
            elif text.startswith(RUNTIME):
                if position > at:
                    break
                self._trial = self._runtime(text, first_line + position)
            elif text.startswith("  ") and self._trial.refusals:
                self._continue_reason(text)
            else:
                break
            position += 1
        self.done = position < end
        return position

    def _candidate(self, texts: Sequence[str], at: int) -> int:
        """Take the statements of a candidate, up to a blank line or a verdict; of each the output is kept."""
        try:
            end = texts.index("", at)
        except ValueError:
            end = len(texts)
        names = list(map(self._names.__getitem__, texts[at:end]))
        if None in names:
            end = at + names.index(None)
            names = names[: end - at]
        self._trial.outputs += filter(None, names)
        self._in_candidate = end == len(texts)
        return end

    def _verdict(self, text: str) -> Refusal | None:
        """Read a refusal, and keep it: a log says the same few things over and over."""
        if not _is_refusal(text):
            return None
        scheduler, _, reason = text[len(REJECTED) :].rstrip().partition(_BECAUSE)
        refusal = self._verdicts[text] = _refusal(scheduler.replace("-", "_"), reason.strip())
        return refusal

    def _continue_reason(self, text: str) -> None:
        told = self._trial.refusals[-1]
        if told.reason.count("\n") == _LONGEST_REASON:
            return
        self._trial.refusals[-1] = _refusal(told.scheduler, f"{told.reason}\n{text.rstrip()}")

    def _runtime(self, text: str, line: int) -> Trial:
        trial = Trial(line)
        if text.startswith(UNSEGMENTED):
            self.whole = trial
        elif text.startswith(HINTS):
            self.has_hints = True
        return trial


def is_log(text: str) -> bool:
    """Say whether a line is one that the segmenter's log has outside candidates."""
    return text.startswith((RUNTIME, CONSIDERING, ACCEPTED)) or _is_refusal(text)


def _is_refusal(text: str) -> bool:
    return text.startswith(REJECTED) and _BECAUSE in text


@lru_cache(maxsize=4096)
def _refusal(scheduler: str, reason: str) -> Refusal:
    from segscope.model import Refusal

    return Refusal(scheduler=scheduler, reason=reason, category=category(reason))


class _FirstNames(dict[str, str | None]):
    """The name with which a line of a candidate begins, empty for further lines of a statement, None for other lines.

    Candidates repeat each other, so each line is looked into once.
    """

    def __missing__(self, line: str) -> str | None:
        match = None if line[0] == " " else _OUTPUT(line)
        name = match.group() if match else None if "***" in line or line.isspace() else ""
        self[line] = name
        return name
