from __future__ import annotations

from segscope.render.beside import side_cuts

BIG, SMALL = 64, 1


def test_a_light_cut_between_two_columns() -> None:
    """0 feeds 1 and 2, which share something small; both feed what comes below them."""
    stored = {(0, 1): BIG, (0, 2): BIG, (1, 2): SMALL, (1, 3): BIG, (2, 4): BIG}
    assert side_cuts(5, stored, {}) == {(1, 2)}
    assert side_cuts(5, stored | {(1, 2): BIG}, {}) == set()


def test_boxes_of_another_height_are_not_beside_each_other() -> None:
    stored = {(0, 1): BIG, (1, 2): BIG, (0, 2): SMALL, (0, 3): BIG}
    assert side_cuts(4, stored, {}) == set()


def test_all_that_a_box_has_is_never_light() -> None:
    assert side_cuts(3, {(0, 1): BIG, (2, 1): SMALL}, {}) == set()
    assert side_cuts(3, {(0, 2): BIG, (0, 1): SMALL}, {}) == set()


def test_a_fusion_output_counts_as_written() -> None:
    stored = {(0, 1): BIG, (0, 2): BIG, (1, 2): SMALL}
    assert side_cuts(3, stored, {}) == set()
    assert side_cuts(3, stored, {1: BIG}) == {(1, 2)}


def test_two_light_cuts_that_cannot_both_be_beside() -> None:
    """1 to 3 leads up without the light cuts, so it holds 3 down, and then 2 to 3 is beside no more."""
    stored = {
        (0, 1): BIG,
        (4, 5): BIG,
        (5, 3): BIG,
        (3, 6): BIG,
        (3, 1): SMALL,
        (1, 7): BIG,
        (0, 2): BIG,
        (2, 8): BIG,
        (2, 1): SMALL,
    }
    assert side_cuts(9, stored, {}) == set()


def test_nothing_is_beside_where_boxes_wait_for_each_other() -> None:
    assert side_cuts(4, {(0, 1): BIG, (1, 0): BIG, (0, 2): BIG, (1, 2): SMALL, (2, 3): BIG, (1, 3): BIG}, {}) == set()
