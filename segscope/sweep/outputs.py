"""The files that a sweep leaves beside its results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from segscope.sweep.chart import to_svg
from segscope.sweep.page import to_html
from segscope.sweep.result import Result
from segscope.sweep.store import keep
from segscope.sweep.table import to_csv, to_json, to_parquet


def write_outputs(results: Sequence[Result], folder: Path) -> tuple[list[Path], list[str]]:
    """Write ``table.csv``, ``table.json``, ``table.parquet``, ``chart.svg`` and ``chart.html``.

    Returns the files, and the packages that are missing for others: pyarrow, matplotlib. Raises SegscopeError where a
    file cannot be written.
    """
    made = {"table.csv": to_csv(results), "table.json": to_json(results)}
    missing = []
    try:
        made["table.parquet"] = to_parquet(results)
    except ImportError:
        missing.append("pyarrow")
    try:
        made["chart.svg"] = chart = to_svg(results)
        made["chart.html"] = to_html(results, chart)
    except ImportError:
        missing.append("matplotlib")
    for name, content in made.items():
        keep(folder / name, content)
    return [folder / name for name in made], missing
