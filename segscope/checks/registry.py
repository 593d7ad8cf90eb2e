"""The rules by name: those of segscope, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from typing import Final, get_args

from segscope.checks.base import Check
from segscope.checks.broadcast_crossing import BroadcastCrossing
from segscope.checks.cycle import Cycle
from segscope.checks.finding import Severity
from segscope.checks.fp32_crossing import Fp32Crossing
from segscope.checks.metadata_kernel import MetadataKernel
from segscope.checks.nondeterministic import Nondeterministic
from segscope.checks.order import Order
from segscope.checks.over_segmented import OverSegmented
from segscope.checks.pad_cat_split import PadCatSplit
from segscope.checks.resize_boundary import ResizeBoundary
from segscope.errors import SegscopeError

ENTRY_POINTS: Final = "segscope.checks"
"""The entry point group in which a package names its subclasses of ``Check``."""

_OWN: Final[tuple[type[Check], ...]] = (
    Cycle,
    Order,
    ResizeBoundary,
    PadCatSplit,
    Fp32Crossing,
    BroadcastCrossing,
    MetadataKernel,
    OverSegmented,
    Nondeterministic,
)


@cache
def checks() -> dict[str, type[Check]]:
    """Return the rules by name: segscope's own, then those of other packages by name.

    Raises SegscopeError for an entry point that cannot be loaded, is no rule, or takes a name that is taken.
    """
    found: dict[str, type[Check]] = {rule.name: rule for rule in _OWN}
    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda point: (point.name, point.value)):
        where = f"entry point {point.name} = {point.value!r} of {ENTRY_POINTS}"
        try:
            rule = point.load()
        except Exception as error:
            raise SegscopeError(f"{where}: cannot be loaded: {type(error).__name__}: {error}") from error
        if not (isinstance(rule, type) and issubclass(rule, Check)):
            raise SegscopeError(f"{where}: not a subclass of segscope.checks.Check")
        if found.setdefault(rule.name, rule) is not rule:
            raise SegscopeError(f"{where}: there is a rule {rule.name!r} already")
    return found


def choose(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> dict[str, type[Check]]:
    """Return the rules that are selected (all where none is) and not ignored. SegscopeError for a name of no rule."""
    rules = checks()
    select, ignore = ({names} if isinstance(names, str) else set(names) for names in (select, ignore))
    for name in sorted(select | ignore):
        _known(name)
    return {name: rule for name, rule in rules.items() if (not select or name in select) and name not in ignore}


def valid_severities(given: Mapping[str, object]) -> dict[str, Severity]:
    """Return severities by rule as they were given. SegscopeError for a name of no rule, or what is no severity."""
    found: dict[str, Severity] = {}
    for name, wanted in given.items():
        _known(name)
        severity: Severity
        for severity in get_args(Severity):
            if severity == wanted:
                found[name] = severity
        if name not in found:
            valid = ", ".join(get_args(Severity))
            raise SegscopeError(f"{name}: unknown severity {wanted!r}; valid: {valid}")
    return found


def _known(name: str) -> None:
    if name not in checks():
        raise SegscopeError(f"unknown rule {name!r}; valid: {', '.join(checks())}")
