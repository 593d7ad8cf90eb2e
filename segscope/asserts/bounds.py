"""How many: a number, or a bound in text."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from segscope.errors import SegscopeError

HowMany = int | str
"""``2``, or a bound: ``"<=2"``, ``">=1"``, ``"!=0"``, ``"<3"``, ``">0"``, ``"==2"``."""

COMPARE: Final[dict[str, Callable[[int, int], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


class Bound(NamedTuple):
    """A comparison with a number."""

    compare: str
    """A key of COMPARE."""
    number: int

    def holds(self, count: int) -> bool:
        """Say whether a count keeps to it."""
        return COMPARE[self.compare](count, self.number)

    def of(self, what: str) -> str:
        """Return ``2 pointwise``, ``<=2 pointwise``."""
        return f"{'' if self.compare == '==' else self.compare}{self.number} {what}"


def bound(given: HowMany) -> Bound:
    """Return a bound as it was given. SegscopeError where it is none."""
    if isinstance(given, int) and not isinstance(given, bool):
        return Bound("==", int(given))
    found = re.fullmatch(r"\s*(==|!=|<=|>=|<|>)\s*([0-9]{1,18})\s*", given) if isinstance(given, str) else None
    if found is None:
        raise SegscopeError(f"{given!r} is no number and no bound; a bound is like '<=2': {' '.join(COMPARE)}")
    return Bound(found[1], int(found[2]))
