"""A comparison of executors as Markdown for GitHub: tables, explanations, and ablations to unfold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from segscope.compare.executors.model import Comparison, Explanation, Run
from segscope.render.executors.rows import (
    ABOUT,
    NONE,
    UNKNOWN,
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
from segscope.render.labels import printable

_SPECIAL: Final = re.compile(r"[\\`*_\[\]|~$]")
"""What GitHub's Markdown takes for markup inside a line, in and outside tables, beside HTML."""
_REFERENCE: Final = re.compile(r"[#@](?=\w)")
"""What GitHub makes a link of, even behind a backslash: an issue, somebody."""


def markdown(comparison: Comparison, *, why_not: bool = False) -> str:
    """Return the whole comparison: for each direction its table and its explanations with their ablations.

    With ``why_not`` also why kernels are not one, for each executor where there are reasons.
    """
    lines = [f"## {_escaped(comparison.workload)}", "", _escaped(setting(comparison)), "", ABOUT]
    for direction in directions(comparison):
        found = [
            (f"{row.executor} (reference)" if row.is_reference else row.executor, *row.cells, row.problem or "")
            for row in rows(comparison, direction)
        ]
        header = [direction, *headings(comparison, direction), "problem"]
        columns = len(header) if any(row[-1] for row in found) else len(header) - 1
        lines += ["", *_table([row[:columns] for row in (header, *found)]), "", note(comparison, direction)]
        for explanation in comparison.explanations:
            if explanation.direction == direction:
                lines += ["", *_explanation(explanation)]
    for run in comparison.runs if why_not else ():
        lines += _why_not(run)
    return "\n".join(lines) + "\n"


def _explanation(explanation: Explanation) -> Iterator[str]:
    yield _escaped(explanation.text)
    more = []
    if explanation.first_difference:
        more += ["", f"First difference: {_escaped(explanation.first_difference)}"]
    if explanation.differences:
        more += ["", f"Operations: {_escaped(differences(explanation))}"]
    if explanation.ablations:
        more += ["", *_table([ablation_headings(explanation), *ablation_rows(explanation)])]
    if more:
        what = "what was taken away, and where" if explanation.ablations else "where"
        yield from ("", f"<details><summary>{_in_html(explanation.executor)}: {what} the graphs differ</summary>")
        yield from (*more, "", "</details>")


def _why_not(run: Run) -> Iterator[str]:
    found = [
        (one.direction, reason.region, str(reason.times), reason.reason, "; ".join(map(" | ".join, reason.pairs)))
        for one in run.passes
        for reason in reasons(one)
    ]
    if found:
        yield from ("", f"<details><summary>{_in_html(run.executor)}: why not fused</summary>", "")
        yield from (*_table([("direction", "region", "times", "why they are two", "which"), *found]), "", "</details>")


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows, the first of which is the header; columns of numbers are to the right."""
    header, *body = ([_escaped(cell) for cell in row] for row in rows)
    yield f"| {' | '.join(header)} |"
    yield "|" + "".join("---:|" if all(map(_is_number, column)) else "---|" for column in zip(*rows[1:], strict=True))
    yield from (f"| {' | '.join(row)} |" for row in body)


def _is_number(cell: str) -> bool:
    return cell == NONE or cell.startswith((*"0123456789<", UNKNOWN))


def _escaped(text: str) -> str:
    """Return text that GitHub shows as it is, in one line."""
    return _REFERENCE.sub(r"\g<0><!-- -->", _SPECIAL.sub(r"\\\g<0>", _in_html(text)))


def _in_html(text: str) -> str:
    return escape(printable(" ".join(text.split())), quote=False)
