"""The captures of a test session, each made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from segscope.errors import CaptureError
from segscope.model import Capture


class Captures:
    """Captures by what defines them: in memory, and in a folder where several processes share them."""

    def __init__(self, shared: Path | None) -> None:
        self._shared = shared
        self._made: dict[str, Capture | CaptureError] = {}

    def get(self, key: str, make: Callable[[], Capture]) -> Capture:
        """Return the capture of that key, made if it is not there; what the same child failed with, it fails with."""
        if key not in self._made:
            try:
                self._made[key] = make() if self._shared is None else _shared(self._shared, key, make)
            except CaptureError as error:
                self._made[key] = error
        found = self._made[key]
        if isinstance(found, CaptureError):
            raise found.with_traceback(None)
        return found


def _shared(folder: Path, key: str, make: Callable[[], Capture]) -> Capture:
    """Return what another process made, or make it while the others that want it wait."""
    from filelock import FileLock

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{key}.json"
    with FileLock(folder / f"{key}.lock"):
        if file.exists():
            return Capture.model_validate_json(file.read_text(encoding="utf-8"))
        made = make()
        partial = file.with_suffix(".partial")
        partial.write_text(made.model_dump_json(), encoding="utf-8")
        partial.replace(file)
    return made
