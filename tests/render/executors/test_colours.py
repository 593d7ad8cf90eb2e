"""Which kernels share a colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.compare.executors.model import Comparison, Direction
from segscope.compare.executors.region import Kernel
from segscope.render.executors.colours import ENOUGH, Work, colours, work_of
from segscope.render.executors.fills import FILLS, letter, work_style
from segscope.render.executors.launched import launched
from segscope.render.palette import BACKGROUND
from tests.render.test_palette import VISION, contrast, lab

from .samples import THUNDER_711, TODAY, kernel, real

pairs = st.tuples(st.sampled_from(["add", "mul", "cast", "sum", "expand", "reshape"]), st.integers(0, 1))
kernels = st.sets(pairs, min_size=1, max_size=5).map(lambda work: kernel("k", *sorted(work)))
columns = st.lists(st.lists(kernels, max_size=4), max_size=4)
Places = set[frozenset[tuple[int, int]]]


def letters(comparison: Comparison, direction: Direction) -> list[str]:
    """The letters of each executor's kernels, in the order of launches."""
    passes = [one for run in comparison.runs if (one := run.get(direction)) and one.kernels]
    drawn = [[each.kernel for _, found in launched(one).regions for each in found] for one in passes]
    return ["".join(map(letter, numbers)) for numbers in colours(drawn)]


def shared(numbers: Sequence[Sequence[int]]) -> Places:
    """Which places (column, row) have the same number."""
    places: dict[int, set[tuple[int, int]]] = {}
    for x, column in enumerate(numbers):
        for y, number in enumerate(column):
            places.setdefault(number, set()).add((x, y))
    return {frozenset(found) for found in places.values()}


def test_v_q_and_k_are_each_the_same_for_all_executors_of_today() -> None:
    assert letters(real(TODAY), "forward") == ["ABC", "ABC", "ABC"]


def test_up_casts_are_alike_and_apart_from_what_other_executors_do() -> None:
    assert letters(real(THUNDER_711), "forward") == ["AB", "AB", "ACCB"]


def test_a_kernel_that_is_as_much_like_two_others_is_like_none() -> None:
    q_and_k = kernel("both", ("mul", 0), ("neg", 0), ("add", 0), ("mul", 1), ("neg", 1), ("add", 1))
    most = (("mul", 0), ("neg", 0), ("mul", 1), ("neg", 1))
    two = [kernel("q", *most, ("add", 0)), kernel("k", *most, ("add", 1))]
    assert colours([[q_and_k], two]) == ((0,), (1, 2))
    assert colours([[q_and_k], two[:1]]) == ((0,), (0,))


def test_what_is_most_alike_comes_first() -> None:
    a, b, c, d = (
        kernel("k", *((f"op{n}", 0) for n in numbers))
        for numbers in (range(8), range(9), (*range(6), 10), (*range(6), 10, 11))
    )
    assert colours([[a, d], [b], [c]]) == ((0, 1), (0,), (1,))
    assert colours([[a], [b], [c]]) == ((0,), (0,), (0,))


def test_what_feeds_is_not_the_work_of_a_kernel() -> None:
    plain = kernel("plain", ("set", 0), ("expand", 0), ("slice", 0), ("slice", 1))
    assert work_of(plain) == {("copy", 0)}
    assert work_of(kernel("mul", ("mul", 1), ("expand", 0), ("expand", 1))) == {("mul", 1)}


def test_kernels_of_which_no_result_is_known_are_told_by_what_they_do() -> None:
    none = [kernel(name, kinds=kinds) for name, kinds in (("a", ("mul", "expand")), ("b", ("mul",)), ("c", ("sum",)))]
    assert colours([none]) == ((0, 0, 1),)


@given(columns)
def test_the_same_work_has_the_same_number(columns: list[list[Kernel]]) -> None:
    found: dict[Work, int] = {}
    for column, numbers in zip(columns, colours(columns), strict=True):
        for each, number in zip(column, numbers, strict=True):
            assert found.setdefault(work_of(each), number) == number


@given(columns)
def test_what_shares_a_number_is_alike(columns: list[list[Kernel]]) -> None:
    for places in shared(colours(columns)):
        for (x1, y1), (x2, y2) in combinations(places, 2):
            a, b = work_of(columns[x1][y1]), work_of(columns[x2][y2])
            assert a == b or (x1 != x2 and len(a & b) > ENOUGH * len(a | b))


@given(columns)
def test_numbers_count_from_zero_as_they_appear(columns: list[list[Kernel]]) -> None:
    numbers = [number for column in colours(columns) for number in column]
    assert list(dict.fromkeys(numbers)) == list(range(len(set(numbers))))


@given(columns.flatmap(lambda found: st.tuples(st.just(found), st.permutations(range(len(found))), st.randoms())))
def test_the_order_of_columns_and_kernels_does_not_matter(drawn: tuple[list[list[Kernel]], list[int], object]) -> None:
    columns, order, random = drawn
    rows = [list(range(len(column))) for column in columns]
    for row in rows:
        random.shuffle(row)  # type: ignore[attr-defined]
    moved = colours([[columns[x][y] for y in rows[x]] for x in order])
    back = {frozenset((order[x], rows[order[x]][y]) for x, y in places) for places in shared(moved)}
    assert back == shared(colours(columns))


def test_letters_go_on_behind_z() -> None:
    assert [letter(n) for n in (0, 25, 26, 27, 51, 52, 701, 702)] == ["A", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]


@pytest.mark.parametrize("number", range(len(FILLS)))
def test_text_and_borders_are_readable(number: int) -> None:
    style = work_style(number)
    assert contrast(style.text, style.fill) >= 7
    assert contrast(style.border, BACKGROUND) >= 4.5


@pytest.mark.parametrize("vision", VISION)
def test_fills_stay_apart_with_any_colour_vision(vision: str) -> None:
    fills = [lab(fill, VISION[vision]) for fill in (*(fill for fill, _ in FILLS), "#f4f4f4")]
    assert min(math.dist(a, b) for a, b in combinations(fills, 2)) > 20


def test_fills_come_again() -> None:
    assert work_style(len(FILLS)) == work_style(0)
