"""A comparison of executors for the terminal: the table, explanations, and why kernels are not one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from segscope.compare.executors.model import Comparison, Direction, Explanation, Run
from segscope.render.executors.rows import (
    ABOUT,
    ablation_headings,
    ablation_rows,
    differences,
    directions,
    headings,
    note,
    rows,
    setting,
)
from segscope.render.executors.why_not import reasons
from segscope.render.labels import printable, wrap

_INDENT: Final = (0, 0, 0, 2)
_MANY: Final = 6
"""Columns of numbers that fit 80 characters only side by side."""
_BREAKS: Final = re.compile(r"(?=\+)|(?= \()")
"""Where the name of an executor may be broken."""


def comparison_table(comparison: Comparison, direction: Direction) -> Table:
    """Return a row for each executor: regions, segments, kernels, launches, what is saved and moved, and times if any.

    Below it stands why an executor has no numbers, or not all.
    """
    found = headings(comparison, direction)
    table = _table(gap=2 if len(found) < _MANY else 1)
    table.add_column(direction, overflow="fold")
    for heading in found:
        table.add_column(heading, justify="right", no_wrap=True)
    below = [_text(note(comparison, direction), "dim")]
    for row in rows(comparison, direction):
        name = f"{row.executor} (reference)" if row.is_reference else row.executor
        lines = wrap(_BREAKS.split(name), "", 22 if len(found) < _MANY else 18)
        table.add_row(_text("\n".join(lines), "bold" if row.is_reference else ""), *row.cells)
        if row.problem is not None:
            below.append(_text(f"{row.executor}: {row.problem}", "red"))
    table.caption, table.caption_justify = Text("\n").join(filter(None, below)), "left"
    return table


def text(comparison: Comparison) -> Group:
    """Return the whole comparison: for each direction its table and its explanations with their ablations."""
    parts: list[RenderableType] = [_text(comparison.workload, "bold"), _text(setting(comparison), "dim"), ABOUT]
    for direction in directions(comparison):
        parts += ["", comparison_table(comparison, direction)]
        for explanation in comparison.explanations:
            if explanation.direction == direction:
                parts += ["", *_explanation(explanation)]
    return Group(*parts)


def why_not_table(run: Run) -> Table:
    """Return a row for each reason for which kernels are not one: where, how often it was given, and for what.

    Reasons are Inductor's for buffers, and those of nvFuser's schedulers for groups; each side is named with the kinds
    of its operations.
    """
    table = _table()
    table.add_column("region", overflow="fold")
    table.add_column("times", justify="right")
    table.add_column("why they are two", ratio=1, overflow="fold")
    table.add_column("which", ratio=1, overflow="fold")
    for one in run.passes:
        for reason in reasons(one):
            which = "\n".join(f"{first} | {second}" for first, second in reason.pairs)
            where = f"{one.direction}\n{reason.region}"
            table.add_row(_text(where), str(reason.times), _text(reason.reason), _text(which), end_section=True)
    return table


def _explanation(explanation: Explanation) -> Iterator[RenderableType]:
    yield _text(explanation.text)
    if explanation.first_difference:
        yield Padding(_text(f"First difference: {explanation.first_difference}", "dim"), _INDENT)
    if explanation.differences:
        yield Padding(_text(f"Operations: {differences(explanation)}", "dim"), _INDENT)
    if explanation.ablations:
        table = _table()
        for heading in ablation_headings(explanation):
            table.add_column(heading, justify="right" if heading in ("kernels", "operations") else "left")
        for row in ablation_rows(explanation):
            table.add_row(*map(_text, row))
        yield Padding(table, _INDENT)


def _table(gap: int = 2) -> Table:
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")


def _text(text: str, style: str = "") -> Text:
    return Text("\n".join(map(printable, text.split("\n"))), style=style)
