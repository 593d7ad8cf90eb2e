"""Toolchains in the order of the days on which their nvFusers were built."""

from __future__ import annotations

from collections.abc import Iterable

from segscope.capture.toolchain import ToolchainSpec, get, names
from segscope.errors import SegscopeError

ALL = "all"


def date_of(name: str) -> str:
    """Return the day on which a toolchain's nvFuser was built, empty where it is not known."""
    spec = get(name)
    return spec.date if isinstance(spec, ToolchainSpec) else ""


def dated() -> list[str]:
    """Return every toolchain whose nvFuser has a date, oldest first, installed or not; of equal dates by name."""
    return sorted(filter(date_of, names()), key=lambda name: (date_of(name), name))


def between(first: str, last: str) -> list[str]:
    """Return the toolchains from one to another, in date order from the first to the last, which may be older.

    Raises SegscopeError where one is not known or has no date.
    """
    order = dated()
    for name in (first, last):
        get(name)
        if name not in order:
            raise SegscopeError(f"toolchain {name} has no date, so it is neither older nor newer than another")
    start, end = order.index(first), order.index(last)
    return order[start : end + 1] if start <= end else order[end : start + 1][::-1]


def expand(asked: Iterable[str]) -> list[str]:
    """Return the toolchains of names, of ranges ``A..B`` and of ``all``: each once, oldest first, undated ones last.

    Raises SegscopeError where one is not known, or an end of a range has no date.
    """
    named: dict[str, None] = {}
    for text in asked:
        first, dots, last = text.partition("..")
        one = dated() if text == ALL else between(first, last) if dots else [text]
        named |= dict.fromkeys(one)
    return sorted(named, key=lambda name: (not date_of(name), date_of(name), name))
