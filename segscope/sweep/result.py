"""What became of a point."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from segscope.errors import CaptureError, SegscopeError
from segscope.model import Capture
from segscope.model.base import Model
from segscope.sweep.point import Point

_STDERR_TAIL: Final = 4000
_NO_OPTION: Final = re.compile(r"Invalid option: '(\w+)'")

Outcome = Literal["ok", "error", "crashed", "timed out", "incomplete", "no dump", "not run"]
"""The first four are how the child ended after it printed its whole dump; ``incomplete``: it printed part of one."""


class Failure(Model):
    """Why there is no capture."""

    outcome: Literal["no dump", "not run"]
    """``not run``: there was no toolchain or device."""
    problem: str
    """One line."""
    stderr_tail: str = ""
    """The end of the child's standard error."""

    @classmethod
    def of(cls, error: SegscopeError) -> Failure:
        """Tell of a capture that raised: without a dump, or without a toolchain or device to make one in."""
        if isinstance(error, CaptureError):
            return cls(outcome="no dump", problem=str(error), stderr_tail=error.stderr[-_STDERR_TAIL:])
        return cls(outcome="not run", problem=str(error))


class Result(Model):
    """A point, with what the table says of it."""

    point: Point
    """What was captured."""
    outcome: Outcome
    """What became of it; see the problem."""
    problem: str = ""
    """One line: how the child ended, or why there is no dump."""
    file: Path
    """The capture as JSON, or the failure."""
    versions: dict[str, str] = Field(default_factory=dict)
    """``nvfuser``, ``torch``, ... as the child found them; empty where there is no capture."""
    groups: int | None = None
    """None where there is no whole dump, as for ``kernel_groups``."""
    kernel_groups: int | None = None
    """Over all fusions."""
    schedulers: dict[str, int] = Field(default_factory=dict)
    """How many groups each scheduler has, most first, then by name."""
    kernels: dict[str, int] = Field(default_factory=dict)
    """How many kernel groups each scheduler has, likewise."""

    @property
    def ran(self) -> bool:
        """Whether there was a toolchain and a device to run it."""
        return self.outcome != "not run"

    @property
    def counted(self) -> bool:
        """Whether there is a whole dump."""
        return self.groups is not None

    @property
    def reason(self) -> str:
        """The problem, in words that do not name the point: points that have the same problem say the same."""
        if option := _NO_OPTION.search(self.problem):
            return f"this nvFuser has no option {option[1]}"
        _, there, rest = self.problem.partition(f" in {self.point.toolchain}: ")
        return rest if there else self.problem


def result_of(point: Point, found: Capture | Failure, file: Path) -> Result:
    """Return what the table says of a point: counts over all fusions."""
    if isinstance(found, Failure):
        return Result(point=point, outcome=found.outcome, problem=found.problem, file=file)
    made = found.provenance
    versions = made.versions if made else {}
    if not found.complete:
        why = next((f"line {d.line}: {d.reason}" for d in found.report.damage), _ended(found) or "it ends early")
        return Result(point=point, outcome="incomplete", problem=f"half a dump: {why}", file=file, versions=versions)
    return Result(
        point=point,
        outcome=made.end.outcome if made else "ok",
        problem=_ended(found),
        file=file,
        versions=versions,
        groups=sum(len(fusion.groups) for fusion in found.fusions),
        kernel_groups=int(found.count()),
        schedulers=found.schedulers,
        kernels=found.kernel_schedulers,
    )


def _ended(capture: Capture) -> str:
    """Say how the child ended, where that was badly."""
    if capture.provenance is None or (end := capture.provenance.end).outcome == "ok":
        return ""
    return end.how
