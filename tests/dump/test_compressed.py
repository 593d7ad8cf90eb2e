"""Files and standard input, compressed or not, whole or not."""

import bz2
import errno
import gzip
import io
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from segscope.dump.compressed import decompressed
from segscope.dump.source import SourceReport, lines
from segscope.errors import SegscopeError
from tests.dump.sources import LOG, clean_lines, rows

PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}
each_packer = pytest.mark.parametrize("compression", PACKERS)


@each_packer
def test_compressed_files_are_known_by_their_first_bytes(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "misnamed.txt"
    half = len(data := LOG.read_bytes()) // 2
    pack = PACKERS[compression]
    path.write_bytes(pack(data[:half]) + pack(data[half:]))
    report = SourceReport()
    assert [text for _, _, text in rows(lines(path, report))] == clean_lines(LOG)
    assert (report.compression, report.bytes, report.notes) == (compression, len(data), [])


@each_packer
def test_a_cut_off_file_gives_what_is_there(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    packed = PACKERS[compression](LOG.read_bytes())
    if compression == "bzip2":  # all of it is in one block
        packed = bz2.compress(b"".join(LOG.read_bytes() for _ in range(3)))
    path.write_bytes(packed[: len(packed) * 4 // 5])
    report = SourceReport()
    found = rows(lines(path, report))
    assert len(found) > 1000
    assert [text for _, _, text in found[:-1]] == (clean_lines(LOG) * 3)[: len(found) - 1]
    assert report.notes == [(len(found), f"the {compression} data ends early")]


@each_packer
def test_a_damaged_file_gives_what_is_before(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.txt"
    packed = bytearray(PACKERS[compression](LOG.read_bytes() * 3))
    middle = len(packed) * 2 // 3
    packed[middle : middle + 40] = b"\xa5" * 40
    path.write_bytes(packed)
    report = SourceReport()
    found = rows(lines(path, report))
    assert len(found) > 1000
    assert [text for _, _, text in found[:1000]] == clean_lines(LOG)[:1000]
    assert len(report.notes) == 1
    assert report.notes[0].reason.startswith(f"the {compression} data is damaged: ")


@pytest.mark.skipif(find_spec("zstandard") is None and sys.version_info < (3, 14), reason="reads no zstd")
def test_zstd(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    packed = zstd(LOG.read_bytes())
    path.write_bytes(packed * 2)
    report = SourceReport()
    assert [text for _, _, text in rows(lines(path, report))] == clean_lines(LOG) * 2
    assert (report.compression, report.notes) == ("zstd", [])
    path.write_bytes(packed + packed[: len(packed) // 2])
    cut = SourceReport()
    assert len(rows(lines(path, cut))) > len(clean_lines(LOG))
    assert [note.reason for note in cut.notes] == ["the zstd data ends early"]
    path.write_bytes(packed + packed[: len(packed) // 2] + packed)
    damaged = SourceReport()
    assert len(rows(lines(path, damaged))) > len(clean_lines(LOG))
    assert [note.reason[:23] for note in damaged.notes] == ["the zstd data is damage"]


def zstd(data: bytes) -> bytes:
    module = "compression.zstd" if sys.version_info >= (3, 14) else "zstandard"
    return bytes(import_module(module).compress(data))


@pytest.mark.skipif(find_spec("zstandard") is not None or sys.version_info >= (3, 14), reason="reads zstd")
def test_zstd_that_cannot_be_read_says_what_to_install(tmp_path: Path) -> None:
    path = tmp_path / "dump.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\0\0")
    with pytest.raises(SegscopeError, match=r"dump\.zst: to read zstd data, run: pip install zstandard$"):
        list(lines(path, SourceReport()))


def test_files_that_cannot_be_read_give_one_line(tmp_path: Path) -> None:
    with pytest.raises(SegscopeError, match=r"nowhere\.txt: No such file or directory$"):
        list(lines(tmp_path / "nowhere.txt", SourceReport()))
    with pytest.raises(SegscopeError, match=r": Is a directory; name the files in it$"):
        list(lines(tmp_path, SourceReport()))


class Trickle(io.BytesIO):
    """A pipe that gives one byte at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(1)


def test_the_first_bytes_may_come_one_by_one() -> None:
    for pack, wanted in ((gzip.compress, "gzip"), (lzma.compress, "xz"), (bytes, "")):
        compression, content = decompressed(Trickle(pack(b"groups:")), "x")
        assert (compression, b"".join(content)) == (wanted, b"groups:")


class Broken(io.BytesIO):
    """A file on a disk that fails behind its first bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_disk_that_fails_is_no_damaged_data() -> None:
    _, content = decompressed(Broken(gzip.compress(b"x")[:2]), "x")
    with pytest.raises(OSError, match="Input/output error"):
        list(content)


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    report = SourceReport()
    assert list(lines(path, report)) == []
    assert report == SourceReport()


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_standard_input(pack: Callable[[bytes], bytes]) -> None:
    program = """
from segscope.dump.compressed import decompressed
from segscope.dump.source import SourceReport, lines
report = SourceReport()
print(sum(len(batch.texts) for batch in lines("-", report)), report.lines, report.bytes)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=pack(LOG.read_bytes()), capture_output=True, check=True
    )
    count = len(clean_lines(LOG))
    assert done.stdout.split() == [b"%d" % count, b"%d" % count, b"%d" % LOG.stat().st_size]


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SegscopeError, match=r"^-: there is no standard input$"):
        list(lines("-", SourceReport()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    assert rows(lines("-", SourceReport())) == [(1, "", "a")]
