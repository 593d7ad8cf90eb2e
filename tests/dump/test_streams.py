"""Dumps of several ranks, and of programs that print in between: apart where that can be told, reported elsewhere."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Sequence
from itertools import cycle, zip_longest
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from segscope.dump import parse, read
from segscope.dump.write import segments_text
from segscope.model import Capture, SegmentedFusion
from tests.conftest import FIXTURES, Cli

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

REWRITTEN = "Segmented_Fusion Dump: -- Re-written complete fusion:{"
SEGMENTS = "Segmented_Fusion Dump: -- fusion segments:"
END = "} //Segmented_Fusion"

TODAY = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt"
LLAMA3 = FIXTURES / "h200_0.2.36_Llama-3-8B_bookend0_forward.txt"
TRAINING = FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward+backward.txt"
JULY = FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"
TINY = FIXTURES / "null_0.2.8_tinyllama_bookend1_forward.txt"
MARCH = FIXTURES / "history" / "null_0.2.0.dev20240316_Llama-2-13b-hf_definition.txt"
SPRING = FIXTURES / "history" / "null_0.2.27.dev20250415_Llama-2-13b-hf_definition.txt"
FIRST = FIXTURES / "eras" / "E0.txt"


def clean(fusion: SegmentedFusion) -> SegmentedFusion:
    """The fusion without its place: number, stream and line."""
    return fusion.model_copy(update={"index": 0, "stream": "", "first_line": 0})


def alone(fusion: SegmentedFusion) -> SegmentedFusion:
    """The fusion without its place, and without what was printed before it."""
    return clean(fusion).model_copy(update={"log": None, "passes": ()})


def fusions(path: Path) -> list[SegmentedFusion]:
    return [clean(fusion) for fusion in read(path).fusions]


def headings(text: str) -> int:
    return len(re.findall(r"g\{(?!\d)", text))


# --- ranks with prefixes -------------------------------------------------------------------------------------------

PREFIXES = {
    "[rank{}]: ": "rank{}",
    "{}: ": "{}",
    "[1,{}]<stdout>:": "1,{}",
    "[1,{}]<stdout>: ": "1,{}",
    "[default{}]:": "default{}",
}
STAMPS = ["", "2024-07-22T12:34:56.1234567Z ", "[2024-07-22 12:34:56,123] "]
RANKS = [[TODAY, JULY], [TODAY, TODAY], [MARCH, TRAINING], [TODAY, JULY, SPRING], [TINY, FIRST, LLAMA3]]


def lines_in_turn(texts: Sequence[str], prefix: str) -> list[str]:
    every = [text.removesuffix("\n").split("\n") for text in texts]
    return [
        f"{prefix.format(rank)}{line}"
        for turn in zip_longest(*every)
        for rank, line in enumerate(turn)
        if line is not None
    ]


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("paths", RANKS, ids=lambda paths: "+".join(path.stem[:14] for path in paths))
def test_ranks_come_apart_by_their_prefixes(paths: list[Path], prefix: str, stamp: str) -> None:
    lines = lines_in_turn([path.read_text() for path in paths], stamp + prefix)
    capture = parse("\n".join(lines) + "\n")
    assert capture.complete
    assert capture.report.damage == ()
    assert capture.report.lines == len(lines)
    assert capture.report.prefixes == len(lines) * (2 if stamp else 1)
    assert [fusion.index for fusion in capture.fusions] == list(range(len(capture.fusions)))
    streams = [PREFIXES[prefix].format(rank) for rank in range(len(paths))]
    assert {fusion.stream for fusion in capture.fusions} == set(streams)
    for stream, path in zip(streams, paths, strict=True):
        assert [clean(fusion) for fusion in capture.fusions if fusion.stream == stream] == fusions(path)
    for fusion in capture.fusions:
        assert lines[fusion.first_line - 1].endswith(SEGMENTS)


@few
@given(
    st.sampled_from(list(PREFIXES)),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 80)), min_size=1, max_size=20),
)
def test_ranks_come_apart_in_whatever_order_they_write(prefix: str, turns: list[tuple[int, int]]) -> None:
    paths = [TODAY, TINY, FIRST]
    left = [path.read_text().removesuffix("\n").split("\n") for path in paths]
    lines = []
    for rank, count in (*turns, *((rank, len(left[rank])) for rank in range(3))):
        lines += [prefix.format(rank) + line for line in left[rank][:count]]
        del left[rank][:count]
    capture = parse("\n".join(lines))
    found = {fusion.stream: clean(fusion) for fusion in capture.fusions}
    assert capture.complete
    assert found == {PREFIXES[prefix].format(rank): fusions(path)[0] for rank, path in enumerate(paths)}


def test_a_rank_that_dies_does_not_damage_the_other() -> None:
    whole = TODAY.read_text()
    capture = parse("\n".join(lines_in_turn([whole[: whole.index("group id: 3")], JULY.read_text()], "[rank{}]: ")))
    first, second = sorted(capture.fusions, key=lambda fusion: fusion.stream)
    assert (first.complete, second.complete) == (False, True)
    assert clean(second) == fusions(JULY)[0]
    (damage,) = capture.report.damage
    assert damage.reason.startswith(f"the end of the input comes before the end of fusion {first.index}: ")
    assert damage.reason.endswith(f": {len(first.groups)} of its 6 groups are there")


# --- ranks without prefixes ----------------------------------------------------------------------------------------

PAIRS = [(TODAY, LLAMA3), (TODAY, TODAY), (JULY, TINY), (FIRST, TINY), (FIRST, FIRST), (TODAY, JULY)]


def dump_lines(path: Path) -> list[str]:
    """One dump, from the heading of the re-written fusion to the end of the segments."""
    text = path.read_text()
    start = text.index(REWRITTEN)
    return text[start : text.index(END, start) + len(END)].split("\n")


def blocks(lines: list[str]) -> list[list[str]]:
    """The lines, cut behind each blank one."""
    found: list[list[str]] = [[]]
    for line in lines:
        found[-1].append(line)
        if not line:
            found.append([])
    return [block for block in found if block]


def mixed(left: Sequence[list[str]], right: Sequence[list[str]], runs: Sequence[int]) -> list[tuple[int, str]]:
    """Lines of two dumps, each with the side that it is of: so many pieces of one, then so many of the other."""
    pieces = [list(left), list(right)]
    lines: list[tuple[int, str]] = []
    for side, count in zip(cycle((0, 1)), cycle(runs), strict=False):
        lines += [(side, line) for piece in pieces[side][:count] for line in piece]
        del pieces[side][:count]
        if not any(pieces):
            break
    return lines


def check_interleaved(lines: list[tuple[int, str]]) -> None:
    """Where the segments of one dump begin before those of the other have ended, that is said."""
    begins, ends = ([lines.index((side, line)) for side in (0, 1)] for line in (SEGMENTS, END))
    assume(max(begins) < min(ends))
    text = "".join(f"{line}\n" for _, line in lines)
    capture = parse(text)
    assert not capture.complete
    assert all(0 < damage.line <= len(lines) for damage in capture.report.damage)
    reasons = [damage.reason for damage in capture.report.damage]
    assert any("the beginning of another dump comes before the end of fusion" in reason for reason in reasons)
    assert sum(len(fusion.groups) for fusion in capture.fusions) <= headings(text)


_runs = st.lists(st.integers(0, 40), min_size=2, max_size=12).filter(lambda runs: any(runs[::2]) and any(runs[1::2]))


@few
@given(st.sampled_from(PAIRS), _runs, st.integers(0, 300))
def test_lines_of_two_dumps_in_turn_are_reported(pair: tuple[Path, Path], runs: list[int], ahead: int) -> None:
    left, right = ([[line] for line in dump_lines(path)] for path in pair)
    head = [(0, line) for piece in left[:ahead] for line in piece]
    check_interleaved(head + mixed(left[ahead:], right, [*runs, *runs]))


@few
@given(st.sampled_from(PAIRS), _runs)
def test_blocks_of_two_dumps_in_turn_are_reported(pair: tuple[Path, Path], runs: list[int]) -> None:
    left, right = (blocks(dump_lines(path)) for path in pair)
    check_interleaved(mixed(left, right, [*(run % 5 for run in [*runs, *runs]), 1, 1]))


@few
@given(st.sampled_from(PAIRS), st.integers(1, 400), st.integers(1, 40))
def test_dumps_between_those_that_are_interleaved_are_whole(pair: tuple[Path, Path], ahead: int, run: int) -> None:
    left, right = ([[line] for line in dump_lines(path)] for path in pair)
    head = [line for piece in left[:ahead] for line in piece]
    jumble = head + [line for _, line in mixed(left[ahead:], right, [run, run])]
    between = [line for path in pair for line in dump_lines(path)]
    capture = parse("\n".join([*jumble, *between, *jumble]))
    first, last = len(jumble), len(jumble) + len(between)
    found = [alone(fusion) for fusion in capture.fusions if first < fusion.first_line <= last]
    assert found == [alone(read(path).fusion) for path in pair]


def test_a_dump_inside_another_is_whole() -> None:
    """The other one is cut in two: its beginning has no end, and its end no beginning."""
    outer, inner = dump_lines(TODAY), dump_lines(JULY)
    at = outer.index("group id: 3")
    capture = parse("\n".join([*outer[:at], *inner, *outer[at:]]))
    first, second = capture.fusions
    assert (first.complete, second.complete) == (False, True)
    assert alone(second) == alone(read(JULY).fusion)
    assert [damage.line for damage in capture.report.damage] == [at + 1, len(outer) + len(inner)]
    assert "the beginning of another dump" in capture.report.damage[0].reason


# --- other programs' lines inside the blocks -----------------------------------------------------------------------

PYTEST = [
    "tests/test_rope.py::test_rope[phi-2-cuda] PASSED                         [ 50%]",
    "PASSED",
    ".",
    "[gw0] [ 50%] PASSED tests/test_rope.py::test_rope",
    "=================================== FAILURES ===================================",
    "________________________________ test_rope[phi-2] ______________________________",
    "----------------------------- Captured stdout call -----------------------------",
    "E       AssertionError: assert 6 == 2",
    "3 passed in 61.00s (0:01:01)",
]


def inside(lines: list[str]) -> range:
    """The positions behind the heading of the segments, up to their end."""
    return range(lines.index(SEGMENTS) + 1, lines.index(END) + 1)


@few
@given(st.sampled_from([TODAY, JULY, SPRING]), st.data())
def test_lines_of_pytest_inside_a_dump_do_not_damage_it(path: Path, data: st.DataObject) -> None:
    lines = path.read_text().split("\n")
    whole = [at for at in inside(lines) if not (lines[at - 1].startswith(" -> ") or lines[at].startswith(" -> "))]
    places = data.draw(st.lists(st.sampled_from(whole), min_size=1, max_size=8, unique=True))
    for at in sorted(places, reverse=True):
        lines.insert(at, data.draw(st.sampled_from(PYTEST)))
    capture = parse("\n".join(lines))
    assert capture.report.damage == ()
    assert [clean(fusion) for fusion in capture.fusions] == fusions(path)
    assert capture.report.foreign == {"pytest": tuple(at + k for k, at in enumerate(sorted(places), 1))}


@pytest.mark.parametrize("path", [TODAY, SPRING], ids=["today", "spring"])
def test_a_line_of_pytest_between_any_two_lines(path: Path) -> None:
    lines = path.read_text().split("\n")
    places = inside(lines)
    text = "\n".join(f"{PYTEST[0]}\n{line}" if at in places else line for at, line in enumerate(lines))
    capture = parse(text)
    assert capture.report.damage == ()
    assert [clean(fusion) for fusion in capture.fusions] == fusions(path)
    assert capture.report.foreign == {"pytest": tuple(at + k for k, at in enumerate(sorted(places), 1))}


# --- what terminals and collectors do ------------------------------------------------------------------------------


def coloured(data: bytes) -> bytes:
    return re.sub(rb"(?m)^(.+)$", b"\x1b[1;32m\\1\x1b[0m\x1b[K", data)


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "ansi": coloured,
    "nul": lambda data: data.replace(b"groups", b"\0gro\0ups").replace(b"\n", b"\n\0"),
    "bom": lambda data: b"\xef\xbb\xbf" + data,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "utf-16 be": lambda data: b"\xfe\xff" + data.decode().replace("\n", "\r\n").encode("utf-16-be"),
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
    "all": lambda data: gzip.compress(coloured(data).replace(b"\n", b"\r\n").decode().encode("utf-16")),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", [TODAY, MARCH, TRAINING], ids=["today", "march", "training"])
def test_a_dump_in_another_form_is_the_same(source: Path, form: str, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(FORMS[form](source.read_bytes()))
    there, here = read(path), read(source)
    assert there.complete
    assert there.fusions == here.fusions
    assert there.report.damage == ()
    assert [segments_text(fusion) for fusion in there.fusions] == [segments_text(fusion) for fusion in here.fusions]


# --- headings behind other programs' open lines --------------------------------------------------------------------

OPEN = ["tests/test_rope.py .", " 50%|#####     | 1/2 [00:00<00:00]\r", " 50%|#####     | 1/2 [00:00<00:00]", "\r\r."]


@pytest.mark.parametrize("before", OPEN)
@pytest.mark.parametrize("source", [JULY, MARCH, TRAINING], ids=["july", "march", "training"])
@pytest.mark.parametrize("known", [SEGMENTS, "Segmented_Fusion Dump: "], ids=["segments", "both"])
def test_a_heading_behind_an_open_line_is_found(source: Path, before: str, known: str) -> None:
    capture = parse(source.read_text().replace(known, before + known))
    assert capture.complete
    assert [clean(fusion) for fusion in capture.fusions] == fusions(source)


@pytest.mark.parametrize("before", OPEN)
def test_count_is_that_of_grep_behind_an_open_line(before: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    text = JULY.read_text().replace(SEGMENTS, before + SEGMENTS)
    path.write_text(text, newline="")
    done = cli("count", path, "--scheduler", "pointwise")
    assert (done.code, done.out, done.err) == (0, f"{text.count('g{(pointwise')}\n", "")


def test_a_rank_in_an_open_line_is_found() -> None:
    lines = lines_in_turn([TODAY.read_text(), JULY.read_text()], "[rank{}]: ")
    text = "\n".join(lines).replace("[rank1]: " + SEGMENTS, "[rank1]: tests/test_rope.py ." + SEGMENTS)
    capture: Capture = parse(text)
    assert capture.complete
    found = {fusion.stream: clean(fusion) for fusion in capture.fusions}
    assert found == {"rank0": fusions(TODAY)[0], "rank1": fusions(JULY)[0]}


# 3: interleaved re-written blocks: fusions lose or mix inputs, outputs, era, transforms and yet are complete
def test_a_dump_inside_the_rewritten_part_of_another_is_reported() -> None:
    outer, inner = dump_lines(TODAY), dump_lines(LLAMA3)
    capture = parse("\n".join(outer[:5] + inner + outer[5:]))
    assert [fusion.complete for fusion in capture.fusions] == [True, False]


def test_segments_behind_two_rewritten_parts_are_reported() -> None:
    outer, inner = dump_lines(TODAY), dump_lines(LLAMA3)
    at = outer.index(SEGMENTS)
    assert not parse("\n".join(outer[:at] + inner + outer[at:])).complete


# 4: a line that is none of nvFuser's, before or within a statement
@pytest.mark.parametrize("line", ["watch out!", "g{1, 2, 3}", "T999_g_float[iS999{8}]"])
@pytest.mark.parametrize("behind", [0, 2])
def test_a_stray_line_at_a_statement_is_reported(line: str, behind: int) -> None:
    lines = dump_lines(TODAY)
    at = next(n for n in inside(lines) if lines[n].startswith("T") and lines[n - 1].startswith("(")) + behind
    capture = parse("\n".join([*lines[:at], line, *lines[at:]]))
    assert not capture.complete


# 5: a heading and an end
def test_segments_without_groups_are_not_complete() -> None:
    assert not parse(f"{SEGMENTS}\n{END}\n").complete


# 6: a heading behind an open line, while another part is open
def test_a_heading_behind_an_open_line_ends_a_dump_that_is_cut_off() -> None:
    lines = dump_lines(TODAY)
    glued = ["tests/test_rope.py ." + line if "Segmented_Fusion Dump" in line else line for line in dump_lines(LLAMA3)]
    capture = parse("\n".join([*lines[: lines.index("group id: 3")], *glued]))
    assert [fusion.complete for fusion in capture.fusions] == [False, True]


def test_segments_behind_an_open_line_end_an_open_rewritten_part() -> None:
    lines = dump_lines(TODAY)
    at = lines.index("} // {Re-written complete fusion}")
    assert len(parse("\n".join([*lines[:at], "x.py ." + SEGMENTS, *lines[lines.index(SEGMENTS) + 1 :]])).fusions) == 1


# 7: pytest's line within an edge of three lines (E0 to E4)
def test_a_line_of_pytest_within_an_edge_of_three_lines() -> None:
    lines = JULY.read_text().split("\n")
    at = next(n for n in inside(lines) if lines[n].startswith(" -> "))
    for place in (at, at + 1):
        capture = parse("\n".join([*lines[:place], PYTEST[0], *lines[place:]]))
        assert capture.report.damage == ()
        assert capture.report.foreign == {"pytest": (place + 1,)}
