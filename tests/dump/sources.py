"""What the tests of the source layer share."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from segscope.dump.source import Batch, SourceReport, batches
from tests.conftest import FIXTURES

DUMP = FIXTURES / "h200_0.2.36_phi-2_bookend0_forward.txt"
LOG = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_log_forward.txt"
OLD = FIXTURES / "history" / "null_0.2.0.dev20240316_Llama-2-13b-hf_definition.txt"
some_dumps = pytest.mark.parametrize("path", [DUMP, OLD], ids=["today", "oldest"])

Row = tuple[int, str, str]


def rows(content: Iterable[Batch]) -> list[Row]:
    """Line number, stream and text of each line."""
    return [(number, stream, text) for first, stream, texts in content for number, text in enumerate(texts, first)]


def read(data: bytes, size: int = 1 << 20, limit: int = 4 << 20) -> tuple[list[Row], SourceReport]:
    report = SourceReport()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return rows(batches(pieces, report, limit)), report


def texts(data: bytes) -> list[str]:
    return [text for _, _, text in read(data)[0]]


def clean_lines(path: Path) -> list[str]:
    return path.read_text().removesuffix("\n").split("\n")


def prefixed(data: bytes, prefix: str) -> bytes:
    return b"".join(prefix.encode() + line + b"\n" for line in data.removesuffix(b"\n").split(b"\n"))
