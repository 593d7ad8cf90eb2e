"""Options of nvFuser, as its ``NVFUSER_*`` variables have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_COMMA: Final = re.compile(r",(?![^(]*\))")


def words(options: str) -> list[str]:
    """Return the options in a value of a variable: between commas, each with arguments in parentheses or not."""
    return [word.strip() for word in _COMMA.split(options) if word.strip()]


def merged(present: str, wanted: Sequence[str]) -> str:
    """Add options to a value of a variable."""
    return ",".join(dict.fromkeys([*words(present), *wanted]))
