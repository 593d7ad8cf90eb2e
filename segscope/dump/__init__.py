"""nvFuser's text to the model: clean lines, find the parts of a dump, read values and statements, join them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from segscope.dump.source import SourceReport, batches, chunks, joined, lines, text_lines
from segscope.errors import SegscopeError

if TYPE_CHECKING:
    from segscope.model import Capture, SegmentedFusion

__all__ = ["fusions", "parse", "read"]

_SORTED_JSON: Final = re.compile(rb'\s*\{\s*"(?:dump|errors|fusions)"')
"""How a capture begins whose keys another program sorted: a long dump stands before the schema's version."""


def parse(text: str, source: str = "text", *, strict: bool = False) -> Capture:
    """Read every segmented fusion in ``text``, which may hold anything else around them.

    Raises NoDumpError where there is none, and, if ``strict``, SegscopeError for anything that could not be read.
    Otherwise a dump that is cut off or damaged gives what is there, with ``complete`` False.
    """
    from segscope.dump.parsing import Parse, strictly

    report = SourceReport()
    return strictly(Parse(source, report).capture(text_lines(text, report)), strict)


def read(path: str | Path, *, strict: bool = False) -> Capture:
    """Read a dump, or a capture that segscope wrote as JSON; ``-`` is standard input, compressed files are welcome.

    Raises SegscopeError where the file cannot be read, and what ``parse`` raises.
    """
    from segscope.dump.parsing import Parse, strictly

    report = SourceReport()
    content = chunks(path, report)
    first = next(content, b"")
    content = chain([first], content)
    if is_json(first):
        return strictly(_from_json(joined(content, path), str(path)), strict)
    name = str(path).encode("utf-8", "replace").decode()  # JSON takes no other text
    return strictly(Parse(name, report).capture(batches(content, report)), strict)


def fusions(path: str | Path) -> Iterator[SegmentedFusion]:
    """Yield the segmented fusions of a dump one by one: memory follows the largest of them, not the file.

    Raises what ``read`` raises, NoDumpError at the end.
    """
    from segscope.dump.parsing import Parse

    report = SourceReport()
    return Parse(str(path), report).fusions(lines(path, report))


def is_json(beginning: bytes) -> bool:
    """Say whether a file that begins so is a capture rather than a dump."""
    beginning = _utf8(beginning)
    return beginning.lstrip().startswith(b"{") and (
        b'"schema_version"' in beginning or _SORTED_JSON.match(beginning) is not None
    )


def _utf8(data: bytes) -> bytes:
    """Return UTF-8 without a byte order mark; PowerShell redirects into UTF-16."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _from_json(data: bytes, name: str) -> Capture:
    from pydantic import ValidationError

    from segscope.model import Capture
    from segscope.model.capture import SCHEMA_VERSION

    try:
        return Capture.model_validate_json(_utf8(data))
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"] == ("schema_version",):
            written = f"written by another segscope (schema {first['input']}); this one reads schema {SCHEMA_VERSION}"
            raise SegscopeError(f"{name}: {written}") from None
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise SegscopeError(f"{name}: not a capture of this segscope ({where}: {first['msg']})") from None
