"""nvFuser's text to the model: find the blocks, read values and statements, join them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from segscope.dump.blocks import SEGMENTS, Source, find
from segscope.dump.build import FusionBuilder
from segscope.errors import NoDumpError, SegscopeError
from segscope.model import Capture, Damage, ParseReport, SegmentedFusion

__all__ = ["parse", "read"]


def parse(text: str, source: str = "text") -> Capture:
    """Read every segmented fusion in ``text``, which may hold anything else around them.

    Raises NoDumpError where there is none. A dump that is cut off gives what is there, with ``complete`` False.
    """
    return _parse(text.split("\n"), source)


def read(path: str | Path) -> Capture:
    """Read a dump, or a capture that segscope wrote as JSON; ``-`` is standard input.

    Raises SegscopeError where the file cannot be read, NoDumpError where it holds no segmented fusion.
    """
    name = str(path)
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(path).read_bytes()
    except OSError as error:
        raise SegscopeError(f"{name}: {error.strerror or error}") from None
    text = data.decode("utf-8", errors="replace")
    if text.lstrip().startswith("{") and '"schema_version"' in text:
        return _from_json(text, name)
    return parse(text, name)


def _from_json(text: str, name: str) -> Capture:
    from pydantic import ValidationError

    try:
        return Capture.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise SegscopeError(f"{name}: not a capture of this segscope ({where}: {first['msg']})") from None


def _parse(lines: Iterable[str], source: str) -> Capture:
    counted = Source()
    fusions: list[SegmentedFusion] = []
    damage: list[Damage] = []
    unknown: Counter[str] = Counter()
    statements = 0
    for blocks in find(lines, counted):
        builder = FusionBuilder(blocks, len(fusions), unknown)
        fusions.append(builder.build())
        statements += sum(len(group.statements) for group in blocks.groups)
        damage += builder.damage
    if not fusions:
        raise NoDumpError(
            f"{source}: no segmented fusion found (looked for {SEGMENTS!r} in {counted.lines} lines); "
            "run with NVFUSER_DUMP=segmented_fusion and keep standard output"
        )
    report = ParseReport(
        lines=counted.lines,
        statements=statements,
        unknown_operators=dict(sorted(unknown.items())),
        damage=tuple(damage),
    )
    return Capture(source=source, fusions=tuple(fusions), report=report)
