"""Toolchains in the order of the days on which their nvFusers were built."""

from __future__ import annotations

from collections.abc import Iterable

from segscope.capture.toolchain import CURRENT, ToolchainSpec, get, names
from segscope.errors import SegscopeError

ALL = "all"


def date_of(name: str) -> str:
    """Return the day on which a toolchain's nvFuser was built, empty where it is not known."""
    return get(name).date


def dated() -> list[str]:
    """Return every toolchain whose nvFuser has a date, oldest first, installed or not; of equal dates by name.

    Those that bring Inductor to a state of before are left out: they are of a Thunder, with the nvFuser of another.
    """
    found = [name for name in names() if date_of(name) and not _of_thunder(name)]
    return sorted(found, key=lambda name: (date_of(name), name))


def between(first: str, last: str) -> list[str]:
    """Return the toolchains from one to another, in date order from the first to the last, which may be older.

    Raises SegscopeError where one is not known or has no date.
    """
    order = dated()
    for name in (first, last):
        get(name)
        if _of_thunder(name):
            raise SegscopeError(
                f"toolchain {name} is of an old Thunder and has the nvFuser of another: it is in no order by date"
            )
        if name not in order:
            raise SegscopeError(f"toolchain {name} has no date: {_hint(name)}")
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


def _of_thunder(name: str) -> bool:
    spec = get(name)
    return isinstance(spec, ToolchainSpec) and bool(spec.inductor)


def _hint(name: str) -> str:
    """Say how a toolchain is given a date."""
    other = "NAME" if name == CURRENT else name
    return f"add it again with one (segscope toolchain add {other} ... --date YYYY-MM-DD)"
