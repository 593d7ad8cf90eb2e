"""Which form of the dump a fusion is printed in, by what tells it from the others (docs/dump-format.md 2.5)."""

from __future__ import annotations

import re
from typing import Final

from segscope.dump.blocks import SegmentsBlock

ERAS: Final = {
    "E0": "12 March 2023",
    "E1": "7 April 2023",
    "E2": "27 September 2023",
    "E3": "9 July 2024",
    "E4": "29 July 2024",
    "E5": "16 August 2024",
    "E6": "3 September 2024",
    "E7": "29 November 2024",
    "E8": "3 July 2025",
    "E9": "12 January 2026",
    "E10": "3 February 2026",
}
"""The forms of the dump, and since when nvFuser prints each."""

_DTYPE_IN_NAME = re.compile(r"T\d+_(?:sym|[glst])_[^\[]+\[")
_INNER_BLANKS = re.compile(r"T\d+_(?:sym|[glst])_[^\[]+\[ ")


def detect(blocks: SegmentsBlock) -> str:
    """Return the era, ``E0`` to ``E10``; the earlier of two where nothing in the fusion tells them apart."""
    values = [text.text for group in blocks.groups for text in (*group.inputs, *group.outputs)]
    statements = [text.text for group in blocks.groups for text, _ in group.statements]
    if any(_DTYPE_IN_NAME.match(value) for value in values):
        return _with_dtype_in_name(blocks, values, statements)
    if any(not line.text.startswith("g{") for line in blocks.group_lines):
        return "E5"
    if any(group.id is not None for group in blocks.groups):
        return "E4"
    if blocks.rewritten.names_its_end:
        return "E3"
    sets = [text for text in statements if "= Set( " in text or "= Set.Permute( " in text]
    if any("cache_op=" in text for text in sets):
        return "E2"
    if sets or (any("= SegmenterSet" in text for text in statements) and _is_of_2023(blocks, values)):
        return "E1"
    if any(_is_bare_set(text) for text in statements) or _is_of_2023(blocks, values):
        return "E0"
    return "E2"


def _is_bare_set(text: str) -> bool:
    operation = text.partition(" = ")[2]
    return operation.startswith("transpose( ") or (operation.startswith("T") and operation.endswith("];"))


def _is_of_2023(blocks: SegmentsBlock, values: list[str]) -> bool:
    """Say whether a scheduler or a zero-dimensional tensor is spelled as until autumn 2023."""
    return any(group.word in ("no-op", "persistent") for group in blocks.groups) or any(
        "[ 0 ]" in value for value in values
    )


def _with_dtype_in_name(blocks: SegmentsBlock, values: list[str], statements: list[str]) -> str:
    if any(_INNER_BLANKS.match(value) for value in values):
        return "E6"
    if blocks.rewritten.has_transforms:
        return "E10"
    if any("= reshape( " in text for text in statements):
        return "E9"
    if any("= __to_" in text or ("= expand( " in text and not text.endswith("} )")) for text in statements):
        return "E8"
    return "E7"
