"""Prefixes of launchers and log collectors go, and tell streams apart."""

from pathlib import Path

import pytest

from segscope.dump.source import SourceReport, batches
from tests.dump.sources import DUMP, OLD, clean_lines, prefixed, read, rows, some_dumps, texts


@pytest.mark.parametrize(
    ("line", "stream", "text"),
    [
        ("[rank3]: Traceback", "rank3", "Traceback"),
        ("[rank3]:[W722 12:34:56.789 file.cpp:12] x", "rank3", "[W722 12:34:56.789 file.cpp:12] x"),
        ("[default0]:[rank0]: x", "default0 rank0", "x"),
        ("[1,17]<stderr>:x", "1,17", "x"),
        ("[prterun-node-77@1,2]<stdout>: x", "prterun-node-77@1,2", "x"),
        ("12: x", "12", "x"),
        (" 3: x", "3", "x"),
        ("12:", "12", ""),
        ("[0] x", "0", "x"),
        ("web-1  |   x", "web-1", "  x"),
        ("job.1.abc@node    | x", "job.1.abc@node", "x"),
        ("web-1  |", "web-1", ""),
        ("[pod/web-0/app] x", "pod/web-0/app", "x"),
        ("(train pid=99) x", "train pid=99", "x"),
        ("unit (3.12)\tRun tests\t2024-07-22T12:34:56.1234567Z   x", "unit (3.12)", "  x"),
        ("Jul  2 12:34:56 node run[1]: x", "node run[1]", "x"),
        ("2024-07-22T12:34:56.1234567Z   x", "", "  x"),
        ("2024-07-22T12:34:56Z", "", ""),
        ("2024-07-22 12:34:56,123 x", "", "x"),
        ("[2024-07-22T12:34:56.123Z] x", "", "x"),
        ("2024-07-22T12:34:56+02:00 0: x", "0", "x"),
        ("0: 12:34:56 x", "0", "x"),
        ("[12:34:56] 12:34:57 x", "", "x"),
    ],
)
def test_a_prefix_says_the_stream(line: str, stream: str, text: str) -> None:
    assert read(line.encode())[0] == [(1, stream, text)]
    assert read(f"a\n{line}\nb\n".encode())[0] == [(1, "", "a"), (2, stream, text), (3, "", "b")]
    assert read(f"{line}\n{line}\n".encode())[0] == [(1, stream, text), (2, stream, text)]


@pytest.mark.parametrize(
    "line",
    ["(12)", "12", "12:3", "1:x", "[no_op] x", "[0, 1]", "[rank0] x", "Inputs: x", "  Split: iS1{2}", "2D Schedule",
     "a || b", "| a | b |", "Jul 22 x", "12:34 x", "2024-07-22 x", "(T0_g[ iS0{2} ]) x", "[W722 12:34:56.7 a.cpp:1] x",
     "a\tb\tc", "a\t12:34:56 x"],
)  # fmt: skip
def test_other_lines_have_no_prefix(line: str) -> None:
    assert read(line.encode())[0] == [(1, "", line)]


def test_a_heading_tells_whether_a_blank_belongs_to_the_prefix() -> None:
    dump = "Segmented_Fusion Dump: -- fusion segments:\n  T0_g\n   = x\n"
    with_blank = prefixed(dump.encode(), "[rank0]: ")
    without = prefixed(dump.encode(), "[rank0]:")
    wanted = dump.splitlines()
    for data in (with_blank, without, with_blank + without + with_blank, without + with_blank + without):
        for size in (1 << 20, 7):
            assert [row[2] for row in read(data, size)[0]] == wanted * (data.count(b"\n") // 3)
    # torch's own messages have no blank where the launcher's lines have one, and neither matters to the other rank
    mixed = b"[rank0]:[W1 x.cpp:1] y\n[rank0]:oops\n[rank1]:oops\n" + with_blank + without.replace(b"k0", b"k1")
    assert [row[2] for row in read(mixed)[0]][3:] == wanted * 2


def test_after_a_heading_no_other_line_tells() -> None:
    data = [b"[rank0]: groups:\n[rank0]:   x\n", b"[rank0]:oops\n[rank0]:   y\n"]
    for pieces in (data, [b"".join(data)]):
        found = rows(batches(pieces, SourceReport()))
        assert [text for _, _, text in found] == ["groups:", "  x", "oops", "  y"]


def test_before_a_heading_a_line_behind_the_colon_tells() -> None:
    assert texts(b"[rank0]:  x\n[rank0]:[W1 y]\n[rank0]:  x") == [" x", "[W1 y]", " x"]
    assert texts(b"[rank0]:  x\n[rank0]:y\n[rank0]:  x\n[rank1]:  x") == [" x", "y", "  x", " x"]
    first, second = b"[rank0]: see [rank0]: Inputs:\n", b"[rank0]:y\n[rank0]:  x\n"
    assert [row[2] for row in rows(batches([first, second], SourceReport()))][1:] == ["y", "  x"]


@pytest.mark.parametrize("prefix", ["0: ", "web-1  | ", "[0] ", "12:34:56 ", "[rank0]: "])
def test_an_empty_line_may_have_lost_the_blank_of_its_prefix(prefix: str) -> None:
    assert texts(f"{prefix.rstrip()}\n{prefix}  x\n{prefix.rstrip()}\n{prefix}\n".encode()) == ["", "  x", "", ""]


@pytest.mark.parametrize("prefix", ["0: ", "[rank0]:", "12:34:56 ", "web | "])
def test_any_number_of_prefixes_takes_linear_time_and_gives_a_short_stream(prefix: str) -> None:
    [(_, stream, text)], report = read((prefix * 100_000 + "x").encode())
    assert (text, report.prefixes) == ("x", 100_000)
    assert len(stream) < 1000


@some_dumps
@pytest.mark.parametrize("prefix", ["[rank{}]: ", "[default{}]:", "{}: ", "2024-07-22T12:34:56.1Z node-{}  | "])
def test_interleaved_ranks_come_apart(path: Path, prefix: str) -> None:
    other = OLD if path == DUMP else DUMP
    wanted = [clean_lines(path), clean_lines(other)]
    data = "".join(
        prefix.format(rank) + line[at] + "\n"
        for at in range(max(map(len, wanted)))
        for rank, line in enumerate(wanted)
        if at < len(line)
    ).encode()
    found, report = read(data)
    streams = list(dict.fromkeys(stream for _, stream, _ in found))
    assert [[text for _, stream, text in found if stream == wanted_stream] for wanted_stream in streams] == wanted
    assert [number for number, _, _ in found] == list(range(1, report.lines + 1))
