"""A parse: batches of clean lines in, fusions and a report out."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from segscope.dump.blocks import SEGMENTS
from segscope.dump.build import FusionBuilder, damage
from segscope.dump.gather import Gather
from segscope.dump.parts import Text
from segscope.dump.reader import GROUP_ERROR, FoundFusion
from segscope.dump.source import Batch, SourceReport
from segscope.errors import NoDumpError, SegscopeError
from segscope.model import Capture, Damage, NvfuserError, ParseReport, SegmentedFusion

_FAILED_GROUP = re.compile(rf"{GROUP_ERROR}(\d{{1,18}})")


class Parse:
    """Reads one source; ``report`` is complete when its fusions have been taken."""

    def __init__(self, source: str, report: SourceReport) -> None:
        self._source = source
        self._report = report
        self._gather = Gather()
        self._fusion_count = 0
        self._statements = 0
        self._unknown: Counter[str] = Counter()
        self._foreign: dict[str, list[int]] = {}
        self._damage: list[Damage] = []

    def capture(self, batches: Iterable[Batch]) -> Capture:
        """Return everything that the source holds."""
        fusions = tuple(self.fusions(batches))
        return Capture(source=self._source, fusions=fusions, report=self._parse_report(), errors=self._errors())

    def fusions(self, batches: Iterable[Batch]) -> Iterator[SegmentedFusion]:
        """Yield the fusions in the order in which they end; NoDumpError where there is none."""
        built = map(self._build, self._gather.fusions(batches))
        while fusion := _next(built):
            yield fusion
        if not self._fusion_count:
            raise NoDumpError(self._nothing())

    def _build(self, found: FoundFusion) -> SegmentedFusion:
        builder = FusionBuilder(found, self._fusion_count, self._unknown)
        fusion = builder.build()
        self._fusion_count += 1
        self._statements += sum(len(group.statements) for group in found.segments.groups)
        for line, kind in found.segments.foreign:
            self._foreign.setdefault(kind, []).append(line)
        self._damage += builder.damage
        return fusion

    def _parse_report(self) -> ParseReport:
        source = self._report
        strays = [damage(reason, text) for reason, text in self._gather.strays]
        missing = [Damage(line=note.line, reason=note.reason, text="") for note in source.notes]
        return ParseReport(
            lines=source.lines,
            statements=self._statements,
            unknown_operators=dict(sorted(self._unknown.items())),
            damage=tuple(sorted([*self._damage, *strays, *missing], key=lambda place: place.line)),
            foreign={kind: tuple(sorted(lines)) for kind, lines in sorted(self._foreign.items())},
            encoding=source.encoding,
            compression=source.compression,
            invalid_bytes=source.invalid_bytes,
            invalid_lines=tuple(source.invalid_lines),
            nulls=source.nulls,
            escapes=source.ansi,
            prefixes=source.prefixes,
        )

    def _errors(self) -> tuple[NvfuserError, ...]:
        return tuple(map(_error, self._gather.errors))

    def _nothing(self) -> str:
        if errors := self._errors():
            first = errors[0]
            said = f"nvFuser failed at line {first.line} ({first.text}), and no segments follow such an error"
        else:
            said = "run with NVFUSER_DUMP=segmented_fusion and keep standard output"
        for note in self._report.notes:
            said = f"{note.reason} (line {note.line}); {said}"
        lines = "1 line" if self._report.lines == 1 else f"{self._report.lines} lines"
        looked = f"looked for {SEGMENTS!r} in {lines}"
        return f"{self._source}: no segmented fusion found ({looked}); {said}"


def _error(text: Text) -> NvfuserError:
    failed = _FAILED_GROUP.search(text.text)
    return NvfuserError(
        line=text.line,
        kind="group failed" if failed else "not a DAG",
        group_id=int(failed.group(1)) if failed else None,
        text=text.text.strip()[:200],
    )


def strictly(capture: Capture, strict: bool) -> Capture:
    """Return the capture; SegscopeError if ``strict`` and anything in it could not be read."""
    if strict and (why := _first_failing(capture.report)):
        raise SegscopeError(f"{capture.source}: {why} (--strict)")
    return capture


def _first_failing(report: ParseReport) -> str | None:
    if report.damage:
        first = report.damage[0]
        return f"line {first.line}: {first.reason}"
    if report.unknown_operators:
        return f"unknown operator {next(iter(report.unknown_operators))}"
    return None


def _next(built: Iterator[SegmentedFusion]) -> SegmentedFusion | None:
    with _no_collection():
        return next(built, None)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Hold off the cyclic collector: a dump is many small objects without cycles, which it would walk in vain."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
