"""Comparisons that were made before, from the JSON that they were written as."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from segscope.compare.executors.model import Comparison
from segscope.dump.source import whole
from segscope.errors import SegscopeError


def read(path: str | Path) -> Comparison:
    """Read a comparison.json, compressed or not; ``-`` is standard input.

    Raises SegscopeError where it cannot be read, or is no comparison of this schema version.
    """
    try:
        return Comparison.model_validate_json(whole(path))
    except ValidationError:
        raise SegscopeError(
            f"{path} is no comparison of executors: give a comparison.json of segscope executors"
        ) from None
