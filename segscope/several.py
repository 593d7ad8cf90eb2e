"""What a caller may give by itself or as several."""

from collections.abc import Iterable


def several(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return one text, or several, always as several."""
    return (given,) if isinstance(given, str) else tuple(given)
