"""How fusions, captures, findings, explanations, headroom, diffs and sweeps show themselves in a notebook; none raises.

Pictures are SVG. ``display(fusion, include=["text/plain", "image/png"])`` asks for PNG, which GitHub shows and SVG not.
"""

from __future__ import annotations

import html
import time
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from segscope.errors import RenderError
from segscope.render.labels import printable, printable_lines

if TYPE_CHECKING:
    from segscope.checks import Finding
    from segscope.compare import Diff
    from segscope.compare.executors.model import Comparison, Direction
    from segscope.explain import Explanation, Headroom
    from segscope.model import Capture, SegmentedFusion
    from segscope.sweep import Result

Bundle = dict[str, str]
Include = Collection[str] | None
"""The types that are asked for; None or none: text, HTML and SVG."""


class _Shown(NamedTuple):
    """Something that has a picture."""

    summary: str
    dot: Callable[[], str]
    table: Callable[[], str]
    """HTML, for where there can be no picture."""
    groups: int


TIME_LIMIT: Final = 10.0
"""Seconds that a cell waits for its pictures."""
SHORT: Final = 20
"""Characters of a table's cell that is not broken into lines."""
WIDTH: Final = 120
"""Characters of a line of what is printed of a comparison."""
LARGE: Final = 100
"""Groups above which a picture is folded away, behind its summary."""
_PNG: Final = "image/png"


def mimebundle(fusion: SegmentedFusion, include: Include = None) -> Bundle:
    """Return ``text/plain``, ``text/html``, and ``image/svg+xml`` where something can draw it in time.

    A fusion of more than LARGE groups has its picture in the HTML only, folded away. Where ``include`` names
    ``image/png``, there is that, too.
    """
    return _bundle(str(fusion), lambda: _pictures([_shown(str(fusion), fusion)], include))


def capture_mimebundle(capture: Capture, include: Include = None) -> Bundle:
    """Return the fusions, each under its summary; of several, all are folded away."""
    shown = [_shown(str(fusion), fusion) for fusion in capture.fusions]
    return _bundle(repr(capture), lambda: _pictures(shown, include))


def findings_mimebundle(findings: Sequence[Finding]) -> Bundle:
    """Return the findings as lines and as a table, errors first and notes last."""
    from segscope.render.html.facts import by_severity

    findings = by_severity(findings)
    lines = [line for finding in findings for line in (str(finding), f"    {finding.advice}")]
    header = ("severity", "rule", "fusion", "finding", "advice")
    rows = [
        (finding.severity, finding.rule, "" if finding.fusion is None else str(finding.fusion), finding.message, advice)
        for finding in findings
        for advice in [f"{finding.advice} [{finding.option}]" if finding.option else finding.advice]
    ]
    return _bundle("\n".join(lines) or "no findings", lambda: {"text/html": _table(header, rows)} if rows else {})


def explanation_mimebundle(explanation: Explanation) -> Bundle:
    """Return a line and a table row for each cut."""
    labels = explanation.labels
    rows = [
        (f"{labels[reason.source]} → {labels[reason.target]}", ", ".join(reason.values), reason.kind, reason.text)
        for reason in explanation.reasons
    ]
    lines = [f"{way} over {values}: {kind}: {text}" for way, values, kind, text in rows]
    header = ("cut", "tensors", "reason", "evidence")
    return _bundle("\n".join(lines) or "no cuts", lambda: {"text/html": _table(header, rows)} if rows else {})


def headroom_mimebundle(headroom: Headroom) -> Bundle:
    """Return the bounds as a table, and the segmentations that prove them as pictures."""
    from segscope.render.explanation import headroom_rows, table

    rows = headroom_rows(headroom)

    def make() -> Bundle:
        proofs = []
        for bound in headroom.bounds:
            notion = "connected" if bound.connected else "free"
            summary = f"proof for {notion} groups under the rules {bound.rules}: {bound.proof}"
            proofs.append(_shown(summary, bound.proof))
        return {"text/html": _table(rows[0], rows[1:]) + _pictures(proofs, fold=True)["text/html"]}

    return _bundle("\n".join(table(rows, markdown=False)), make)


def diff_mimebundle(diff: Diff, include: Include = None) -> Bundle:
    """Return the changes as lines, and both sides as a picture, as ``mimebundle`` does; a table where there is none."""
    from segscope.compare.report import as_text
    from segscope.render.diff_dot import drawn, to_dot

    def table() -> str:
        rows = [(change.kind, change.explain()) for change in diff.changes]
        return _table(("kind", "change"), rows) if rows else ""

    groups = sum(max(len(side.groups) for side in (pair.before, pair.after) if side) for pair in drawn(diff))
    shown = _Shown(str(diff), lambda: to_dot(diff), table, groups)
    return _bundle(as_text(diff), lambda: _pictures([shown], include))


def sweep_mimebundle(results: Sequence[Result], include: Include = None) -> Bundle:
    """Return a table of the points, and the chart where matplotlib is installed."""
    from segscope.render.explanation import table
    from segscope.sweep import chart

    header = ("point", "kernel groups", "by scheduler")
    rows = [
        (
            str(result.point),
            str(result.kernel_groups) if result.counted else result.reason,
            ", ".join(f"{count} {name}" for name, count in result.kernels.items()),
        )
        for result in results
    ]

    def make() -> Bundle:
        bundle = {"text/html": _table(header, rows)}
        with suppress(ImportError):
            bundle["image/svg+xml"] = chart.to_svg(results).decode()
            bundle["text/html"] = bundle["image/svg+xml"].partition("?>")[2] + bundle["text/html"]
            if include and _PNG in include:
                bundle[_PNG] = b64encode(chart.to_png(results)).decode()
        return bundle

    return _bundle("\n".join(table([header, *rows], markdown=False)), make if results else dict)


def comparison_mimebundle(comparison: Comparison, include: Include = None) -> Bundle:
    """Return what ``segscope executors`` prints, and as HTML a picture a direction; an image is of forward."""
    from segscope.render.executors.picture import picture
    from segscope.render.executors.rows import directions, headings, rows
    from segscope.render.executors.table import text
    from segscope.render.table import plain

    def shown(direction: Direction) -> _Shown:
        def table() -> str:
            head = (heading.replace("\n", " ") for heading in headings(comparison, direction))
            return _table((direction, *head), ((row.executor, *row.cells) for row in rows(comparison, direction)))

        return _Shown(f"{comparison.workload}, {direction}", lambda: picture(comparison, direction), table, 0)

    def make() -> Bundle:
        bundle = _pictures([shown(direction) for direction in directions(comparison)], include, first=True)
        if "text/html" in bundle:
            bundle["text/html"] += "".join(f"<p>{_escape(each.text)}</p>" for each in comparison.explanations)
        return bundle

    return _bundle("\n".join(plain(text(comparison), WIDTH)), make)


def _bundle(text: str, make: Callable[[], Bundle]) -> Bundle:
    """Return the text and what else can be made: a cell that shows text is better than one that shows a traceback."""
    bundle = {"text/plain": printable_lines(text)}
    with suppress(Exception):
        bundle |= make()
    return bundle


def _shown(summary: str, fusion: SegmentedFusion) -> _Shown:
    from segscope.render.dot import to_dot

    return _Shown(summary, lambda: to_dot(fusion), lambda: _groups(fusion), len(fusion.groups))


def _pictures(shown: Sequence[_Shown], include: Include = None, *, fold: bool = False, first: bool = False) -> Bundle:
    """Return the pictures as HTML, and one alone as an image too: the only one, or the ``first``."""
    alone = shown[0] if shown and (first or len(shown) == 1) else None
    bundle = {}
    if alone and include and _PNG in include:
        with suppress(RenderError):
            bundle[_PNG] = b64encode(_draw(alone, "png", TIME_LIMIT)).decode()
    if include and not {"text/html", "image/svg+xml"} & {*include}:
        return bundle
    end = time.monotonic() + TIME_LIMIT
    pictures = [_picture(each, end - time.monotonic()) for each in shown]
    small = not fold and alone is not None and alone.groups <= LARGE
    folded = "".join(_folded(each.summary, picture, open=small) for each, picture in zip(shown, pictures, strict=True))
    bundle["text/html"] = f"<div>{folded}</div>"
    if small and pictures[0].startswith("<svg"):
        bundle["image/svg+xml"] = pictures[0]
    return bundle


def _draw(shown: _Shown, format: str, seconds: float) -> bytes:
    from segscope.render import engine

    if seconds <= 0:
        raise RenderError("no time is left")
    return engine.draw(shown.dot(), format, seconds).data


def _picture(shown: _Shown, seconds: float) -> str:
    """Return an SVG, or, where there can be none, a table."""
    from segscope.render.sanitize import sanitize

    try:
        return sanitize(_draw(shown, "svg", seconds))
    except RenderError:
        return shown.table()


def _groups(fusion: SegmentedFusion) -> str:
    from segscope.render import words

    rows = [
        (
            group.label,
            group.scheduler,
            "yes" if fusion.launches_kernel(group) else "-",
            words.SEPARATOR.join(words.operations(fusion, group)),
            " ".join(group.inputs),
            " ".join(group.outputs),
        )
        for group in fusion.groups
    ]
    return _table(("group", "scheduler", "kernel", "operations", "inputs", "outputs"), rows)


def _folded(summary: str, content: str, *, open: bool) -> str:
    state = " open" if open else ""
    fitted = content.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)
    return f"<details{state}><summary>{_escape(summary)}</summary>{fitted}</details>"


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head, *body = (
        "<tr>" + "".join(f'<{tag} style="{_cell_style(cell)}">{_escape(cell)}</{tag}>' for cell in row) + "</tr>"
        for tag, row in [("th", header), *(("td", row) for row in rows)]
    )
    return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"


def _cell_style(text: str) -> str:
    return "text-align: left" + ("; white-space: nowrap" if len(text) <= SHORT else "")


def _escape(text: str) -> str:
    return html.escape(printable(text))
