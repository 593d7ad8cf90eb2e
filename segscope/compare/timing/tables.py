"""Nsight's CSV: rows of kernels below a heading, with lines of the tool above it.

Sources: Nsight Systems User Guide, ``cuda_gpu_trace`` and ``cuda_gpu_kern_sum``; Nsight Compute CLI, ``--csv`` and
``--page``. Units stand in the heading (Systems), or beside or above the values (Compute). A row of Compute ends at its
last value, and may be shorter than the heading.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from segscope.compare.timing.kernels import Launch
from segscope.errors import SegscopeError

Row = Mapping[str, str]
_Reader = Callable[[Row, Row], Launch]
"""Takes a row, and the row of units above it."""

_NAMES: Final = ("Kernel Name", "Name")
_DURATION: Final = "gpu__time_duration.sum"
_DETAILS: Final = (_DURATION, "Duration")
"""What Nsight Compute calls the time of a kernel: the metric, and its label in a section."""
_MICROSECONDS: Final = {
    f"{prefix}{unit}": factor
    for prefix, factor in {"n": 1e-3, "u": 1.0, "μ": 1.0, "µ": 1.0, "m": 1e3, "": 1e6}.items()
    for unit in ("s", "sec", "second")
}
_NUMBER: Final = re.compile(r"\d{1,15}(?:\.\d*)?|\d{1,3}(?:,\d{3}){1,4}(?:\.\d*)?")


def launches_in(text: str, source: str) -> Iterator[Launch]:
    """Yield nvFuser's kernels in a CSV; SegscopeError where there is no known heading, or a time is none."""
    rows = csv.reader(text.splitlines())
    heading: list[str] = []
    units: Row = {}
    read: _Reader | None = None
    metric = ""
    has_kernel = has_time = False
    try:
        for cells in rows:
            if found := _reader(cells):
                heading, units, read = cells, {}, found
            elif read:
                row = dict.fromkeys(heading, "") | dict(zip(heading, cells, strict=False))
                if "nvfuser_" in _name(row):
                    has_kernel = True
                    name = row.get("Metric Name")
                    if name in _DETAILS:
                        metric = metric or name  # of a launch that has both, one counts
                    if name is None or name == metric != "":
                        has_time = True
                        yield read(row, units)
                elif not _name(row) and len(cells) == len(heading):
                    units = row
    except (csv.Error, ValueError) as error:
        raise SegscopeError(f"{source}: line {rows.line_num}: {error}") from None
    if has_kernel and not has_time:
        raise SegscopeError(f"{source}: no time of its kernels: profile the metric {_DURATION} too")
    if read is None:
        raise SegscopeError(
            f"{source}: no kernel times: neither JSON, nor CSV of nsys (cuda_gpu_trace, cuda_gpu_kern_sum) or ncu"
        )


def _name(row: Row) -> str:
    return next(row[column] for column in _NAMES if column in row)


def _reader(heading: Sequence[str]) -> _Reader | None:
    """Return what reads the rows below a heading; None where it is none."""
    if not set(heading).intersection(_NAMES):
        return None
    if {"Metric Name", "Metric Unit", "Metric Value"} <= set(heading):
        return _detail
    if _DURATION in heading:
        return lambda row, units: Launch(_name(row), _us(row[_DURATION], units.get(_DURATION, "")))
    with_units = (re.fullmatch(r"(.+?) ?\((.+)\)", column) for column in heading)
    timed = {found[1]: (found[0], found[2]) for found in with_units if found}
    wanted = ("Med", "Avg", "Average") if "Instances" in heading else ("Duration",)
    for what in wanted:
        if what in timed:
            column, unit = timed[what]
            return lambda row, _: Launch(_name(row), _us(row[column], unit), int(_number(row.get("Instances", "1"))))
    return None


def _detail(row: Row, units: Row) -> Launch:
    """Read the row of a launch's time; each metric has a row."""
    return Launch(_name(row), _us(row["Metric Value"], row["Metric Unit"]))


def _us(value: str, unit: str) -> float:
    if unit not in _MICROSECONDS:
        raise ValueError(f"{unit!r:.40} is no unit of time")
    return _number(value) * _MICROSECONDS[unit]


def _number(value: str) -> float:
    if not _NUMBER.fullmatch(value):
        raise ValueError(f"{value!r:.40} is no number")
    return float(value.replace(",", ""))
