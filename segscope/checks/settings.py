"""The severities that a project sets, in ``segscope.toml`` or ``pyproject.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from segscope.checks.finding import Severity
from segscope.checks.registry import valid_severities
from segscope.errors import SegscopeError
from segscope.toml import read_toml

_FILES: Final = {"segscope.toml": (), "pyproject.toml": ("tool", "segscope")}
"""Where settings stand: the files, nearest first, and the tables above the settings in each."""
_SETTINGS: Final = ("severities",)


def find_severities(folder: Path) -> dict[str, Severity]:
    """Return the severities by rule that hold in a folder; empty where none are set.

    They are those of the nearest file, from the folder upwards: ``[severities]`` of a segscope.toml, or
    ``[tool.segscope.severities]`` of a pyproject.toml; of two in one folder, the former. A file without the table is
    passed over.

    Raises SegscopeError, which names the file, where it cannot be read, or names no rule or no severity.
    """
    for place in (folder, *folder.parents):
        for name, above in _FILES.items():
            path = place / name
            if path.is_file() and (found := _read(path, above)) is not None:
                return found
    return {}


def _read(path: Path, above: tuple[str, ...]) -> dict[str, Severity] | None:
    try:
        settings = _table(read_toml(path), above) or {}
        for key in settings:
            if key not in _SETTINGS:
                raise SegscopeError(f"unknown setting {key!r}; valid: {', '.join(_SETTINGS)}")
        found = _table(settings, ("severities",))
        return None if found is None else valid_severities(found)
    except SegscopeError as error:
        raise SegscopeError(f"{path}: {error}") from None
    except ValueError as error:
        raise SegscopeError(f"{path}: not TOML: {error}") from None
    except OSError as error:
        raise SegscopeError(f"{path}: {error.strerror or error}") from None


def _table(content: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the table below these names; None where there is none."""
    for name in names:
        if name not in content:
            return None
        content = content[name]
        if not isinstance(content, dict):
            raise SegscopeError(f"{name!r} must be a table")
    return content
