"""A sweep as one HTML file: the chart and the table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import Template
from typing import Final
from urllib.parse import quote

from segscope.render.labels import printable
from segscope.sweep.result import Result
from segscope.sweep.table import Cell, rows

_PAGE: Final = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { font: 14px/1.4 sans-serif; margin: 1.5rem; color: #1a1a1a; background: #ffffff; }
h1 { font-size: 1.2rem; }
figure { margin: 0; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .2rem .6rem; text-align: left; border-bottom: 1px solid #d4d8de; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.problem { white-space: normal; min-width: 20rem; }
thead th { position: sticky; top: 0; background: #f4f4f4; }
</style>
</head>
<body>
<h1>$title</h1>
<figure role="img" aria-label="Kernel groups by toolchain and scheduler; the table has the numbers">
$chart
</figure>
<table>
<thead><tr>$head</tr></thead>
<tbody>
$body
</tbody>
</table>
</body>
</html>
""")


def to_html(results: Sequence[Result], chart: bytes) -> bytes:
    """Return a page with the chart (SVG), and a row a point whose toolchain leads to the point's file beside the page.

    The page needs no network and has no script.
    """
    table = [
        dict(sorted(row.items(), key=lambda cell: cell[0] == "problem")) for row in rows(results)
    ]  # the longest last
    numbers = {name for row in table for name, cell in row.items() if isinstance(cell, int)}
    points = {" ".join(filter(None, (result.point.workload, result.point.config))) for result in results}
    svg = chart.decode()
    page = _PAGE.substitute(
        title=escape(f"Kernel groups: {', '.join(sorted(points))}"),
        chart=svg[svg.index("<svg") :],
        head="".join(f"<th{_kind(name, numbers)}>{escape(name)}</th>" for name in table[0]),
        body="\n".join(_row(row, result, numbers) for row, result in zip(table, results, strict=True)),
    )
    return page.encode()


def _row(row: dict[str, Cell], result: Result, numbers: set[str]) -> str:
    cells = {name: "" if cell is None else escape(printable(str(cell))) for name, cell in row.items()}
    cells["toolchain"] = f'<a href="{escape(quote(result.file.name))}">{cells["toolchain"]}</a>'
    return "<tr>" + "".join(f"<td{_kind(name, numbers)}>{text}</td>" for name, text in cells.items()) + "</tr>"


def _kind(name: str, numbers: set[str]) -> str:
    return ' class="n"' if name in numbers else ' class="problem"' if name == "problem" else ""
