"""The folder of a toolchain: the marker that says what is in it, its lock, and the room it takes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from segscope.files import write_in_one_step

if TYPE_CHECKING:
    from filelock import BaseFileLock

MARKER = "segscope-toolchain.json"
"""Written last: a folder without it is not a toolchain."""


@dataclass(frozen=True)
class Marker:
    """What an installation wrote down when it was finished."""

    python: str
    """The version of the interpreter, such as ``3.12.1``."""
    pins: tuple[str, ...]

    def has_python(self, version: str) -> bool:
        """Say whether the interpreter's major and minor version are ``version``."""
        return self.python.startswith(f"{version}.")


def read_marker(folder: Path) -> Marker | None:
    """Return the marker in ``folder``, or none where it is missing or damaged."""
    try:
        content = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        return Marker(content["python"] + "", tuple(content["pins"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_marker(folder: Path, pins: Iterable[str]) -> None:
    """Mark the virtual environment in ``folder`` as a toolchain with these pins."""
    config = (folder / "pyvenv.cfg").read_text(encoding="utf-8")
    settings = dict(line.replace(" ", "").split("=", 1) for line in config.splitlines() if "=" in line)
    content = {
        "name": folder.name,
        "python": settings.get("version") or settings["version_info"],
        "pins": list(pins),
        "installed": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    write_in_one_step(folder / MARKER, (json.dumps(content, indent=1) + "\n").encode())


def lock_of(folder: Path) -> BaseFileLock:
    """Return the lock that whoever fills, removes or takes from ``folder`` has to hold."""
    from filelock import FileLock

    return FileLock(folder.with_name(f"{folder.name}.lock"))


@dataclass(frozen=True)
class DiskUse:
    """Bytes on disk, without the holes in files."""

    total: int
    own: int
    """Without the files that have hard links elsewhere: what removing the folder would give back."""


def disk_use(folder: Path) -> DiskUse:
    """Return the room that a folder takes."""
    total = own = 0
    for entry in _entries(folder):
        found = entry.stat(follow_symlinks=False)
        size = found.st_blocks * 512
        total += size
        if entry.is_dir(follow_symlinks=False) or found.st_nlink == 1:
            own += size
    return DiskUse(total, own)


def _entries(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)
