"""What one run printed, with where it came from."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Final, Literal

from pydantic import Field

from segscope.errors import SegscopeError
from segscope.model.base import Model
from segscope.model.count import Count
from segscope.model.fusion import SegmentedFusion, by_scheduler
from segscope.vocabulary import check_scheduler

SCHEMA_VERSION: Final = 1


class Damage(Model):
    """A place that the parser could not use, or where something is missing."""

    line: int
    """Line of the source, from 1."""
    reason: str
    """What is wrong with it."""
    text: str
    """What stands there, cut at 200 characters."""


class ParseReport(Model):
    """What the parser met."""

    lines: int
    """Lines of the source."""
    statements: int
    """Statements of expressions that were read."""
    unknown_operators: dict[str, int]
    """Operators that are not known, with how often each was met; their statements are kept as text."""
    damage: tuple[Damage, ...]
    """Places that could not be used, or where something is missing, by line; empty where all could be read."""
    foreign: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    """Lines of other programs inside the dumps, which were passed over: numbers by kind (pytest, warning, ...)."""
    encoding: str = "utf-8"
    """That of the source, as Python names it."""
    compression: str = ""
    """What it was compressed with; empty for nothing."""
    invalid_bytes: int = 0
    """Bytes that are no text in the encoding."""
    invalid_lines: tuple[int, ...] = ()
    """The first 1,000 lines with such bytes."""
    nulls: int = 0
    """Null bytes that were taken out."""
    escapes: int = 0
    """ANSI escape sequences that were taken off."""
    prefixes: int = 0
    """Prefixes of launchers and log collectors that were taken off."""


class NvfuserError(Model):
    """A line in which nvFuser says that segmentation, or a group, failed."""

    line: int
    """Line of the source, from 1."""
    kind: Literal["not a DAG", "group failed"]
    """``not a DAG`` where the groups wait for each other, ``group failed`` where one of them failed."""
    group_id: int | None
    """The group that failed."""
    text: str
    """The line, cut at 200 characters."""


class ChildEnd(Model):
    """How the child process ended."""

    outcome: Literal["ok", "error", "crashed", "timed out"]
    """``ok`` for exit code 0, ``error`` for another one, ``crashed`` by a signal, ``timed out`` at the time limit."""
    exit_code: int | None = None
    """None for a child that a signal ended."""
    signal: str | None = None
    """``SIGFPE``, ... for a child that a signal ended."""
    message: str | None = None
    """What it complained of, in one line."""
    stderr_tail: str = ""
    """The end of its standard error."""

    @property
    def how(self) -> str:
        """The signal that ended it, else what it complained of, else its exit code."""
        return self.signal or self.message or f"exit code {self.exit_code}"


class Provenance(Model):
    """Where a capture came from."""

    workload: str
    """What was run: a file, a function, a command."""
    options: dict[str, str | int | bool | None]
    """What defines the workload: configuration, batch, sequence length, dtype, direction, bookend, ..."""
    environment: dict[str, str]
    """The ``NVFUSER_*`` variables that were set."""
    toolchain: str
    """Name of the toolchain that it ran in."""
    versions: dict[str, str]
    """``python``, ``torch``, ``nvfuser``, ``thunder``; a name is absent where the child ended before it was known."""
    device: Literal["cuda", "null"]
    """``cuda`` for a GPU, ``null`` for the null device."""
    card: str
    """The card's name as torch reports it, or the name of the card that the null device plays."""
    command: tuple[str, ...]
    """The child's command line, its paths cut down to file names."""
    end: ChildEnd
    """How the process ended; a capture may be whole though it ended badly."""
    notes: tuple[str, ...] = ()
    """What a reader should know, such as an answer that the null device invented."""


class Capture(Model):
    """One run's segmented fusions, and where they came from."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """The form of the JSON; a capture of another one is refused."""
    source: str
    """The file, ``-``, or a description of the run."""
    provenance: Provenance | None = None
    """None where a dump was read rather than made."""
    fusions: Annotated[tuple[SegmentedFusion, ...], Field(min_length=1)]
    """At least one, in the order printed."""
    report: ParseReport
    """What the parser met; ``report.damage`` is empty where it could read everything."""
    errors: tuple[NvfuserError, ...] = ()
    """What nvFuser said of failures, in the order of the lines."""
    dump: str | None = None
    """What the run printed on file descriptor 1; None where a dump was read rather than made."""

    @property
    def complete(self) -> bool:
        """Whether every fusion's dump is whole, and nothing is left of one that is not among them."""
        return not self.report.damage and all(f.complete for f in self.fusions)

    @property
    def fusion(self) -> SegmentedFusion:
        """The only fusion; SegscopeError where there are several."""
        if len(self.fusions) != 1:
            raise SegscopeError(f"{self.source}: {len(self.fusions)} fusions, name one (0 to {len(self.fusions) - 1})")
        return self.fusions[0]

    @property
    def schedulers(self) -> dict[str, int]:
        """How many groups each scheduler has in all fusions, most first, then by name."""
        return by_scheduler(group for fusion in self.fusions for group in fusion.groups)

    @property
    def kernel_schedulers(self) -> dict[str, int]:
        """How many kernel groups each scheduler has in all fusions, most first, then by name."""
        return by_scheduler(group for fusion in self.fusions for group in fusion.kernel_groups)

    def count(self, scheduler: str | None = None) -> int:
        """Count over all fusions: groups of one scheduler, or kernel groups where none is named.

        Raises SegscopeError for a scheduler that no known nvFuser has.
        """
        if scheduler is None:
            return Count(sum(len(fusion.kernel_groups) for fusion in self.fusions), self, None)
        schedulers = self.schedulers
        check_scheduler(scheduler, schedulers)
        return Count(schedulers.get(scheduler, 0), self, scheduler)

    def _repr_mimebundle_(self, include: Collection[str] | None = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import capture_mimebundle

        return capture_mimebundle(self, include)

    def __repr__(self) -> str:
        return f"<Capture {self.source!r}: {'; '.join(map(str, self.fusions))}>"

    __str__ = __repr__
