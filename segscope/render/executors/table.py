"""A comparison of executors for the terminal: the table, explanations, and why kernels are not one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
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
_COUNTS: Final = 4
"""Columns of counts, which stay together where there are too many for one table."""
_WIDEST: Final = 1000
_BREAKS: Final = re.compile(r"(?=\+)|(?= \()")
"""Where the name of an executor may be broken."""


@dataclass(frozen=True)
class _Fitting:
    """One table where it fits the width, else others with its columns."""

    one: Table
    several: tuple[Table, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        needed = Measurement.get(console, options.update(width=_WIDEST), self.one).maximum
        if needed <= options.max_width:
            yield self.one
        else:
            yield from self.several


def comparison_table(comparison: Comparison, direction: Direction) -> Group:
    """Return a row for each executor: regions, segments, kernels, launches, what is saved and moved, and times if any.

    These are two tables where one is too wide. Below stands why an executor has no numbers, or not all.
    """
    columns = range(len(headings(comparison, direction)))
    halves = (columns[:_COUNTS], columns[_COUNTS:])
    below = [_text(note(comparison, direction), "dim")]
    for row in rows(comparison, direction):
        if row.problem is not None:
            below.append(_text(f"{row.executor}: {row.problem}", "red"))
    one, *several = (_of_columns(comparison, direction, chosen) for chosen in (columns, *halves))
    return Group(_Fitting(one, tuple(several)), *filter(None, below))


def _of_columns(comparison: Comparison, direction: Direction, columns: range) -> Table:
    table = _table(gap=2 if len(columns) < _MANY else 1)
    table.add_column(direction, overflow="fold")
    for heading in headings(comparison, direction)[columns.start : columns.stop]:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows(comparison, direction):
        name = f"{row.executor} (reference)" if row.is_reference else row.executor
        lines = wrap(_BREAKS.split(name), "", 22 if len(columns) < _MANY else 18)
        cells = row.cells[columns.start : columns.stop]
        table.add_row(_text("\n".join(lines), "bold" if row.is_reference else ""), *cells)
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
