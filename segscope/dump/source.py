"""Bytes to clean lines: whatever a terminal, a launcher, a log collector or a crash did to them is undone here.

* UTF-8 or, with a byte order mark, UTF-16; invalid bytes become U+FFFD, byte order marks and NULs go.
* ANSI escape sequences (colours, cursor, titles, links) go.
* A line ends in LF or CRLF. A CR elsewhere (a progress bar) separates texts that share a line number: each is given,
  but for blank ones, so that a dump line survives on whichever side of it.
* Prefixes go, and say which stream a line is of (``segscope.dump.prefixes``).
* A text of more than 4 MiB is cut, and the rest of its line skipped.

Lines are never joined, and no other line is dropped. What was met is counted in a SourceReport.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from segscope.dump.compressed import CHUNK, DamagedError, Readable, decompressed
from segscope.dump.prefixes import Prefixes
from segscope.errors import SegscopeError

LIMIT = 4 << 20
"""Longest text of a line, in bytes."""
WHOLE = 1 << 30
"""Most bytes, unpacked, of a file that is read whole."""
_MOST_PLACES = 1000

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # control sequence: colours, cursor
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # command string: title, link
    r"|[#%()*+./-][0-~]|[=>78cM])?"  # character set, keypad, ...; or an ESC by itself
)


class Batch(NamedTuple):
    """Consecutive lines of one stream."""

    first_line: int
    """Line of the source, from 1; the texts behind are of the lines behind."""
    stream: str
    """What the prefixes say where the lines come from, ``""`` where there is none."""
    texts: list[str]
    """Without prefixes and line ends."""


class Note(NamedTuple):
    """Where text is missing, and why."""

    line: int
    reason: str


@dataclass
class SourceReport:
    """What was met in a source; complete when its batches have been taken."""

    bytes: int = 0
    """Length, decompressed."""
    lines: int = 0
    compression: str = ""
    encoding: str = "utf-8"
    invalid_bytes: int = 0
    """Bytes that are no text in this encoding."""
    invalid_lines: list[int] = field(default_factory=list)
    """The first lines with U+FFFD in their place, up to 1,000."""
    nulls: int = 0
    ansi: int = 0
    prefixes: int = 0
    notes: list[Note] = field(default_factory=list)


def lines(path: str | Path, report: SourceReport) -> Iterator[Batch]:
    """Yield the lines of a file, or of standard input for ``-``, compressed or not.

    Raises SegscopeError where it cannot be read. Data that ends early or is damaged ends the lines, with a note.
    """
    return batches(chunks(path, report), report)


def text_lines(text: str, report: SourceReport) -> Iterator[Batch]:
    """Yield the lines of a text."""
    pieces = (text[at : at + CHUNK] for at in range(0, len(text), CHUNK))
    return batches((piece.encode(errors="surrogatepass") for piece in pieces), report)


def chunks(path: str | Path, report: SourceReport) -> Iterator[bytes]:
    """Yield the content of a file, or of standard input for ``-``, decompressed; see ``lines``."""
    name = str(path)
    if "\n" in name:
        raise SegscopeError("this is a text of several lines, not a path: use segscope.parse(text)")
    try:
        with _opened(name) as file:
            report.compression, content = decompressed(file, name)
            yield from content
    except DamagedError as error:
        report.notes.append(Note(report.lines + 1, str(error)))
    except IsADirectoryError:
        raise SegscopeError(f"{name}: Is a directory; name the files in it") from None
    except OSError as error:
        raise SegscopeError(f"{name}: {error.strerror or error}") from None


def whole(path: str | Path) -> bytes:
    """Return the content of a file, or of standard input for ``-``, decompressed.

    Raises SegscopeError where it cannot be read or is more than ``WHOLE``, and for compressed data that ends early or
    is damaged.
    """
    report = SourceReport()
    content = joined(chunks(path, report), path)
    if report.notes:
        raise SegscopeError(f"{path}: {report.notes[0].reason}")
    return content


def joined(content: Iterable[bytes], path: str | Path) -> bytes:
    """Return chunks as one. SegscopeError where they are more than ``WHOLE``."""
    found = bytearray()
    for chunk in content:
        found += chunk
        if len(found) > WHOLE:
            raise SegscopeError(f"{path}: more than {WHOLE >> 20:,} MiB, and it is read whole, as a dump or log is not")
    return bytes(found)


def _opened(name: str) -> AbstractContextManager[Readable]:
    if name != "-":
        return Path(name).open("rb")
    if sys.stdin is None:
        raise SegscopeError("-: there is no standard input")
    return nullcontext(sys.stdin.buffer)  # type: ignore[arg-type]  # BufferedReader or BytesIO, which have read1


def batches(content: Iterable[bytes], report: SourceReport, limit: int = LIMIT) -> Iterator[Batch]:
    """Yield the lines of ``content``, whose chunks may end anywhere; ``limit`` is the longest text, in bytes."""
    prefixes = Prefixes()
    for block in _blocks(_utf8(content, report), report, limit):
        first_line = report.lines + 1
        text = _cleaned(block, report)
        ended = text.endswith("\n")
        body = text[:-1] if ended else text
        stream, texts, done = ("", body.split("\n"), False) if "\r" in body else prefixes.take_all(body)
        report.lines += len(texts) - (not ended)
        if done:
            yield Batch(first_line, stream, texts)
        else:
            yield from _one_by_one(texts, first_line, stream, prefixes)
        report.prefixes = prefixes.taken


def _utf8(content: Iterable[bytes], report: SourceReport) -> Iterator[bytes]:
    content = iter(content)
    head = b""
    for chunk in content:
        head += chunk
        if len(head) >= len(codecs.BOM_UTF16):
            break
    content = chain([head], content)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        report.encoding = "utf-16"
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        for chunk, last in chain(((chunk, False) for chunk in content), [(b"", True)]):
            report.bytes += len(chunk)
            yield decoder.decode(chunk, last).encode()
    else:
        for chunk in content:
            report.bytes += len(chunk)
            yield chunk


def _blocks(content: Iterable[bytes], report: SourceReport, limit: int) -> Iterator[bytes]:
    """Yield whole lines, many at a time. A block that does not end in LF ends where the input or a long line does."""
    data = b""
    inside = skipping = False
    for chunk in content:
        if b"\0" in chunk:
            report.nulls += chunk.count(b"\0")
            chunk = chunk.replace(b"\0", b"")
        if not skipping and len(data) + len(chunk) <= limit and (end := chunk.rfind(b"\n") + 1):
            inside = False
            yield b"".join((data, memoryview(chunk)[:end]))
            data = chunk[end:]
            continue
        data += chunk
        while data:
            if skipping:
                end = data.find(b"\n") + 1
                data = data[end:] if end else b""
                if end:
                    skipping = inside = False
                    report.lines += 1
                continue
            end = data.rfind(b"\n", 0, limit + 1) + 1
            if end:
                inside = False
                yield data[:end]
                data = data[end:]
            elif len(data) <= limit:
                break
            elif (end := data.rfind(b"\r", 0, limit)) >= 0:
                inside = True
                if end:
                    yield data[:end]
                data = data[end + 1 :]
            else:
                inside = skipping = True
                report.notes.append(Note(report.lines + 1, f"line cut after {limit} bytes"))
                yield data[:limit]
    if data:
        yield data
    report.lines += bool(data) or inside


def _cleaned(block: bytes, report: SourceReport) -> str:
    try:
        text = block.decode()
        invalid = 2 * text.count("\ufffd") if report.encoding == "utf-16" else 0
    except UnicodeDecodeError:
        text = block.decode(errors="replace")
        invalid = len(block) - len(block.decode(errors="ignore").encode())
    if invalid:
        report.invalid_bytes += invalid
        lines = enumerate(text.split("\n"), report.lines + 1)
        places = (number for number, line in lines if "\ufffd" in line)
        report.invalid_lines += islice(places, _MOST_PLACES - len(report.invalid_lines))
    if "\x1b" in text:
        text, count = _ANSI.subn("", text)
        report.ansi += count
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return text if text.isascii() else text.replace("\ufeff", "")


def _one_by_one(lines: list[str], first_line: int, outer: str, prefixes: Prefixes) -> Iterator[Batch]:
    begin, stream = first_line, outer
    texts: list[str] = []
    for number, line in enumerate(lines, first_line):
        within = ""
        for position, piece in enumerate(_overwritten(line) if "\r" in line else (line,)):
            found, text = prefixes.take(piece, outer)
            within = found or within
            if within != stream or position:
                if texts:
                    yield Batch(begin, stream, texts)
                begin, stream, texts = number, within, []
            texts.append(text)
    yield Batch(begin, stream, texts)


def _overwritten(line: str) -> list[str]:
    pieces = line.rstrip("\r").split("\r")
    return [piece for piece in pieces if piece.strip()] or pieces[-1:]
