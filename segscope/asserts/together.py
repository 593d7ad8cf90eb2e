"""What is in the same group, and what is not."""

from __future__ import annotations

from itertools import combinations, permutations

from segscope.asserts.checked import Checked, fusion_of
from segscope.asserts.message import fail
from segscope.asserts.selection import Item, Selection, select
from segscope.checks.facts import listed
from segscope.errors import SegscopeError
from segscope.model import SegmentedFusion

__tracebackhide__ = True


def assert_same_group(fusion: Checked, *selectors: str) -> None:
    """Assert that what is selected is together: ``assert_same_group(fusion, "cat", "pad")``.

    Each expression that one selects must share a group with one that the other selects, for all pairs: each cat with a
    pad, and each pad with a cat; they need not all be in one group. Selectors: ``segscope.asserts.selection.select``.

    Raises AssertionError where one is alone, or where a selector selects nothing.
    """
    found = fusion_of(fusion)
    selections = _selections(found, selectors)
    for one, other in permutations(selections, 2):
        alone = [item for item in one.items if not item.groups & other.groups]
        if alone:
            _fail(
                found, f"{one.selector} in the same group as {other.selector}", (one, other), f"{_named(alone)} alone"
            )


def assert_different_groups(fusion: Checked, *selectors: str) -> None:
    """Assert that no group holds what two of the selectors select: ``assert_different_groups(fusion, "T8", "T15")``.

    Raises AssertionError where a group does, or where a selector selects nothing.
    """
    found = fusion_of(fusion)
    for one, other in combinations(_selections(found, selectors), 2):
        if both := sorted(one.groups & other.groups):
            labels = listed([found.groups[index].label for index in both])
            _fail(
                found,
                f"{one.selector} and {other.selector} in different groups",
                (one, other),
                f"some of both in {labels}",
            )


def _selections(fusion: SegmentedFusion, selectors: tuple[str, ...]) -> list[Selection]:
    if len(selectors) < 2:
        raise SegscopeError("name two or more of what is together or apart, as in 'cat', 'pad'")
    return [select(fusion, selector) for selector in selectors]


def _fail(fusion: SegmentedFusion, asked: str, selections: tuple[Selection, ...], found: str) -> None:
    details = [f"{selection.selector}: {places(fusion, selection)}" for selection in selections]
    fail(asked, found, fusion, *details, concerned=set().union(*(selection.groups for selection in selections)))


def places(fusion: SegmentedFusion, selection: Selection) -> str:
    """Return ``cat T18 in #10, cat T27 in #9``."""
    held = [
        f"{item.name} in {listed([fusion.groups[index].label for index in sorted(item.groups)])}"
        for item in selection.items
        if item.groups
    ]
    return ", ".join(held)


def _named(items: list[Item]) -> str:
    return listed([item.name for item in items])
