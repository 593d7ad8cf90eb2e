"""The captures of a test session, each made once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from segscope.errors import CaptureError
from segscope.files import write_in_one_step
from segscope.model import Capture


class Captures:
    """Captures by what defines them: in memory, and in a folder where several processes share them."""

    def __init__(self, shared: Path | None) -> None:
        self._shared = shared
        self._made: dict[str, Capture | CaptureError] = {}

    def get(self, key: str, make: Callable[[], Capture]) -> Capture:
        """Return the capture of that key, made if it is not there; what the same child failed with, it fails with."""
        if key not in self._made:
            self._made[key] = _attempt(make) if self._shared is None else _shared(self._shared, key, make)
        found = self._made[key]
        if isinstance(found, CaptureError):
            raise found.with_traceback(None)
        return found


def _attempt(make: Callable[[], Capture]) -> Capture | CaptureError:
    try:
        return make()
    except CaptureError as error:
        return error


def _shared(folder: Path, key: str, make: Callable[[], Capture]) -> Capture | CaptureError:
    """Return what another process made or failed with, or make it while the others that want it wait."""
    from filelock import FileLock

    folder.mkdir(parents=True, exist_ok=True)
    file, failed = folder / f"{key}.json", folder / f"{key}.failed.json"
    with FileLock(folder / f"{key}.lock"):
        if file.exists():
            return Capture.model_validate_json(file.read_text(encoding="utf-8"))
        if failed.exists():
            told = json.loads(failed.read_text(encoding="utf-8"))
            return CaptureError(told["message"], output=told["output"], stderr=told["stderr"])
        made = _attempt(make)
        if isinstance(made, CaptureError):
            told = {"message": str(made), "output": made.output, "stderr": made.stderr}
            write_in_one_step(failed, json.dumps(told).encode())
        else:
            write_in_one_step(file, made.model_dump_json().encode())
    return made
