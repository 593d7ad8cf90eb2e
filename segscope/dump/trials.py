"""The segmenter's own words: what it tried to merge, and what each scheduler said (docs/dump-format.md 3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from segscope.dump.reasons import category

CONSIDERING: Final = "**Segmenter** Considering fusion:"
UNSEGMENTED: Final = "***Runtime***: Try to schedule fusion un-segmented:"
HINTS: Final = "***Runtime***: Has segment hints, skip un-segmented scheduling."
ACCEPTED: Final = "***Accepted*** as: "
REJECTED: Final = "Scheduler _"
RUNTIME: Final = "***Runtime***: "
_BECAUSE: Final = "_ ***rejected*** because :"

_OUTPUT = re.compile(r"(?:T|ptr|var|f4x2_|[idfbcas])\d+").match


@dataclass
class Trial:
    """What one set of expressions was told, as text."""

    line: int
    outputs: list[str] = field(default_factory=list)
    """Names of the values that the candidate's expressions define, in order."""
    refusals: list[tuple[str, str]] = field(default_factory=list)
    """Scheduler and reason."""
    accepted: str | None = None

    def record(self) -> dict[str, Any]:
        """Return what the model takes."""
        return {
            "line": self.line,
            "outputs": self.outputs,
            "refusals": [
                {"scheduler": scheduler, "reason": reason, "category": category(reason)}
                for scheduler, reason in self.refusals
            ],
            "accepted": self.accepted,
        }


class SegmenterLog:
    """Everything that the segmenter says of one fusion: candidates, and what the schedulers answer."""

    def __init__(self) -> None:
        self.done = False
        self.whole: Trial | None = None
        self.has_hints = False
        self.trials: list[Trial] = []
        self._trial = Trial(0)
        self._in_candidate = False
        self._in_reason = False

    def take(self, texts: Sequence[str], at: int, first_line: int) -> int:
        """Take headings, statements of candidates, and verdicts, up to a line that is none of these."""
        self.done = False
        trial, in_candidate, in_reason = self._trial, self._in_candidate, self._in_reason
        position = at
        for position in range(at, len(texts)):
            text = texts[position]
            if in_candidate:
                if not text or text.isspace():
                    in_candidate = False
                elif text[0] != " " and (match := _OUTPUT(text)):
                    trial.outputs.append(match.group())
            elif text.startswith(REJECTED) and _BECAUSE in text:
                scheduler, _, reason = text[len(REJECTED) :].rstrip().partition(_BECAUSE)
                trial.refusals.append((scheduler.replace("-", "_"), reason.strip()))
                in_reason = True
            elif text.startswith(CONSIDERING):
                trial = Trial(first_line + position)
                self.trials.append(trial)
                in_candidate = True
            elif text.startswith(ACCEPTED):
                trial.accepted = text[len(ACCEPTED) :].strip().replace("-", "_")
            elif text.startswith(RUNTIME):
                if position > at:
                    break
                trial = self._runtime(text, first_line + position)
            elif in_reason and text.startswith("  "):
                scheduler, reason = trial.refusals[-1]
                trial.refusals[-1] = (scheduler, f"{reason}\n{text.rstrip()}")
            elif text and not text.isspace():
                break
        else:
            position = len(texts)
        self.done = position < len(texts)
        self._trial, self._in_candidate, self._in_reason = trial, in_candidate, in_reason
        return position

    def _runtime(self, text: str, line: int) -> Trial:
        trial = Trial(line)
        if text.startswith(UNSEGMENTED):
            self.whole = trial
        elif text.startswith(HINTS):
            self.has_hints = True
        return trial
