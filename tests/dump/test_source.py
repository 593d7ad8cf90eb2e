"""Bytes to clean lines: what terminals, launchers, log collectors and crashes do to a dump is undone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segscope.dump.source import SourceReport, batches, lines, text_lines
from tests.conftest import DUMPS
from tests.dump.sources import LOG, Row, clean_lines, prefixed, read, rows, some_dumps, texts

each_dump = pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)


# --- clean sources -------------------------------------------------------------------------------------------------


@each_dump
def test_a_clean_dump_is_given_as_it_is(path: Path) -> None:
    report = SourceReport()
    given_rows = rows(lines(path, report))
    assert given_rows == [(number, "", text) for number, text in enumerate(clean_lines(path), 1)]
    assert report == SourceReport(bytes=path.stat().st_size, lines=len(given_rows))
    assert rows(text_lines(path.read_text(), SourceReport())) == given_rows


def test_many_lines_come_in_few_batches() -> None:
    assert len(list(lines(LOG, SourceReport()))) <= LOG.stat().st_size // (1 << 18) + 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [(1, "", "")]),
        (b"a", [(1, "", "a")]),
        (b"a\n", [(1, "", "a")]),
        (b"a\n\nb", [(1, "", "a"), (2, "", ""), (3, "", "b")]),
        (b"a\x0cb\x1cc\xc2\x85d\xe2\x80\xa8e\n", [(1, "", "a\x0cb\x1cc\x85d\u2028e")]),
    ],
)
def test_only_line_feeds_make_lines(data: bytes, expected: list[Row]) -> None:
    found, report = read(data)
    assert found == expected
    assert report.lines == len(expected)


# --- cleaning ------------------------------------------------------------------------------------------------------


def coloured(data: bytes) -> bytes:
    return b"".join(b"\x1b[1;32m" + line + b"\x1b[0m\x1b[K\n" for line in data.split(b"\n")[:-1])


def linked(data: bytes) -> bytes:
    return data.replace(b"T0_g", b"\x1b]8;;file:///x\x1b\\T0_g\x1b]8;;\x07")


DISGUISES: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CRCRLF": lambda data: data.replace(b"\n", b"\r\r\n"),
    "UTF-8 BOM": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16, big endian, CRLF": lambda data: b"\xfe\xff" + data.decode().replace("\n", "\r\n").encode("utf-16-be"),
    "UTF-16 without BOM": lambda data: data.decode().encode("utf-16-le"),
    "NUL": lambda data: data.replace(b"(", b"\0(\0").replace(b"\n", b"\n\0\0"),
    "colours": coloured,
    "colours, CRLF": lambda data: coloured(data).replace(b"\n", b"\r\n"),
    "links": linked,
    "[rank0]: ": lambda data: prefixed(data, "[rank0]: "),
    "[rank0]: trimmed": lambda data: prefixed(data, "[rank0]: ").replace(b"[rank0]: \n", b"[rank0]:\n"),
    "[default0]:": lambda data: prefixed(data, "[default0]:"),
    "[1,0]<stdout>:": lambda data: prefixed(data, "[1,0]<stdout>:"),
    "[job@1,0]<stdout>: ": lambda data: prefixed(data, "[job@1,0]<stdout>: "),
    "0: ": lambda data: prefixed(data, "0: "),
    " 7: ": lambda data: prefixed(data, " 7: "),
    "[12] ": lambda data: prefixed(data, "[12] "),
    "web-1  | ": lambda data: prefixed(data, "web-1  | "),
    "kubectl": lambda data: prefixed(data, "[pod/web-0/app] "),
    "Ray": lambda data: prefixed(data, "(worker pid=12, ip=10.0.0.1) "),
    "syslog": lambda data: prefixed(data, "Jul 22 12:34:56 node1 run.sh[42]: "),
    "GitHub Actions": lambda data: b"\xef\xbb\xbf" + prefixed(data, "2024-07-22T12:34:56.1234567Z "),
    "gh run view": lambda data: prefixed(data, "unit (3.12)\tRun tests\t2024-07-22T12:34:56.1234567Z "),
    "logging": lambda data: prefixed(data, "[2024-07-22 12:34:56,123] "),
    "Jenkins": lambda data: prefixed(data, "12:34:56 "),
    "all at once": lambda data: prefixed(
        data, "\x1b[36mnode-1  | \x1b[0m2024-07-22T12:34:56+02:00 3: [default3]:[rank3]: "
    ).replace(b"\n", b"\0\r\n"),
}


@some_dumps
@pytest.mark.parametrize("name", DISGUISES)
@pytest.mark.parametrize("size", [1 << 20, 1 << 12], ids=["at once", "4 KiB"])
def test_a_disguised_dump_gives_the_same_lines(path: Path, name: str, size: int) -> None:
    data = DISGUISES[name](path.read_bytes())
    assert data != path.read_bytes()
    found, report = read(data, size)
    assert [text for _, _, text in found] == clean_lines(path)
    assert [number for number, _, _ in found] == list(range(1, len(found) + 1))
    assert len({stream for _, stream, _ in found}) == 1
    assert (report.bytes, report.lines, report.invalid_bytes, report.notes) == (len(data), len(found), 0, [])


def test_what_was_met_is_counted() -> None:
    data = b"\xef\xbb\xbfa\0\0b\xff\n\x1b[1mc\x1b[0m\xe2\x82\n[rank0]: 12:34:56 d\n0: e"
    found, report = read(data)
    assert found == [(1, "", "ab\ufffd"), (2, "", "c\ufffd"), (3, "rank0", "d"), (4, "0", "e")]
    assert report == SourceReport(
        bytes=len(data), lines=4, invalid_bytes=3, invalid_lines=[1, 2], nulls=2, ansi=2, prefixes=3
    )
    assert read("a\n".encode("utf-16"))[1].encoding == "utf-16"
    report = read(b"\xff\xfea\0\n\0\0\xd8\n\0")[1]
    assert (report.invalid_bytes, report.invalid_lines) == (2, [2])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("\x1b[31mred\x1b[m", "red"),
        ("\x1b[38;2;1;2;3m\x1b[?25lx\x1b[2K", "x"),
        ("\x1b]0;title\x07  x", "  x"),
        ("\x1b(B\x1b=\x1b7x", "x"),
        ("\x1b  T0_g", "  T0_g"),
        ("\x1b]never closed  T0_g", "]never closed  T0_g"),
        ("\x1b\x1b[1m[1mx", "[1mx"),
    ],
)
def test_escape_sequences_go_and_nothing_else(data: str, expected: str) -> None:
    assert texts(data.encode()) == [expected]


def test_an_escape_sequence_ends_with_its_line() -> None:
    assert texts(b"\x1b]0;a\nb\x07c\n\x1b[1\n2m") == ["]0;a", "b\x07c", "[1", "2m"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("\r 10%\r 20%\rgroups: \n", [(1, "", " 10%"), (1, "", " 20%"), (1, "", "groups: ")]),
        ("groups: \r 10%\n}", [(1, "", "groups: "), (1, "", " 10%"), (2, "", "}")]),
        ("a\n\r      \rb\nc", [(1, "", "a"), (2, "", "b"), (3, "", "c")]),
        ("a\r\n\r\n \r\r\nb\r", [(1, "", "a"), (2, "", ""), (3, "", " "), (4, "", "b")]),
        ("0: a\rb\n1: c\r1: d\r2: e\n", [(1, "0", "a"), (1, "0", "b"), (2, "1", "c"), (2, "1", "d"), (2, "2", "e")]),
        ("x\r\x1b[K\r\n", [(1, "", "x")]),
    ],
)
def test_texts_between_carriage_returns_share_a_line(data: str, expected: list[Row]) -> None:
    assert read(data.encode())[0] == expected


# --- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_line_that_is_too_long_is_cut(size: int) -> None:
    found, report = read(b"a\n" + b"x" * 8 + b"\n" + b"y" * 9 + b"\nb\n" + b"z" * 99, size, limit=8)
    assert found == [(1, "", "a"), (2, "", "x" * 8), (3, "", "y" * 8), (4, "", "b"), (5, "", "z" * 8)]
    assert report.lines == 5
    assert report.notes == [(3, "line cut after 8 bytes"), (5, "line cut after 8 bytes")]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_end_of_a_cut_line_is_no_line(size: int) -> None:
    for data in (b"y" * 9 + b"\n", b"y" * 99 + b"\n", b"\r" + b"y" * 9):
        found, report = read(data, size, limit=8)
        assert (found, report.lines, len(report.notes)) == ([(1, "", "y" * 8)], 1, 1)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_progress_bar_of_any_length_hides_no_line(size: int) -> None:
    found, report = read(b"\r12345" * 9 + b"\rgroups:\nend", size, limit=8)
    assert found == [(1, "", "12345")] * 9 + [(1, "", "groups:"), (2, "", "end")]
    assert (report.lines, report.notes) == (2, [])


def test_nulls_of_a_crashed_file_system_are_no_long_line() -> None:
    found, report = read(b"a\n" + b"\0" * 99 + b"b\n", 10, limit=8)
    assert found == [(1, "", "a"), (2, "", "b")]
    assert (report.nulls, report.notes) == (99, [])


def test_memory_follows_the_longest_text_and_not_the_source() -> None:
    longest = 0

    def endless() -> Iterator[bytes]:
        for _ in range(300):
            yield b"x" * (1 << 16)

    report = SourceReport()
    for batch in batches(endless(), report, limit=1 << 17):
        longest = max(longest, *map(len, batch.texts))
    assert longest == 1 << 17
    assert report.bytes == 300 << 16


# --- properties ----------------------------------------------------------------------------------------------------

PIECES = [
    b"\n", b"\r", b"\r\n", b"\0", b" ", b"  ", b"\x1b", b"\x1b[1m", b"\x1b]0;", b"\x07", b"\xff", b"\xe2\x82",
    b"\xac", b"\xef\xbb\xbf", b"\xff\xfe", b"[rank0]:", b"[rank1]: ", b"[1,0]<stdout>:", b"0: ", b" 1: ",
    b"12:34:56 ", b"web | ", b"2024-07-22T12:34:56Z ", b"[2024-07-22 12:34:56]", b"Inputs:", b"groups:",
    b"T0_g", b"   = x", b"(12)", b"|", b"[", b"Segmented_Fusion Dump: -- fusion segments:", b":", b"0",
    b"Jul 22 12:34:56 a b[1]: ", b"(a pid=1) ", b"[0] ",
]  # fmt: skip
noisy = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)), max_size=40).map(b"".join)


@settings(max_examples=500)
@given(noisy, st.integers(1, 30), st.sampled_from([5, 30, 1 << 20]))
def test_where_chunks_end_does_not_matter(data: bytes, size: int, limit: int) -> None:
    assert read(data, size, limit) == read(data, 1 << 20, limit)


@settings(max_examples=500)
@given(st.lists(noisy, min_size=1, max_size=3), st.sampled_from([b"[rank0]: ", b"[default0]:", b"0: ", b"12:34:56 "]))
def test_where_chunks_end_does_not_matter_with_a_prefix_on_each_line(parts: list[bytes], prefix: bytes) -> None:
    data = b"".join(prefix + line + b"\n" for part in parts for line in part.replace(b"\r", b"").split(b"\n"))
    assert read(data, 1) == read(data, 1 << 20)


@settings(max_examples=500)
@given(noisy)
def test_cleaning_is_idempotent(data: bytes) -> None:
    once = texts(data)
    assert texts("".join(f"{text}\n" for text in once).encode()) == once


@settings(max_examples=300)
@given(noisy)
def test_no_line_is_lost_or_invented(data: bytes) -> None:
    found, report = read(data)
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert report.lines == data.count(b"\n") + bool(data.replace(b"\0", b"").rpartition(b"\n")[2])
    assert list(dict.fromkeys(number for number, _, _ in found)) == list(range(1, report.lines + 1))
    assert not any(character in text for _, _, text in found for character in "\n\r\0\x1b\ufeff")


@settings(max_examples=200)
@given(st.text(st.characters(codec=None), max_size=40))
def test_a_text_gives_the_lines_of_its_bytes(text: str) -> None:
    data = text.encode(errors="surrogatepass")
    assert rows(text_lines(text, SourceReport())) == read(data)[0]
