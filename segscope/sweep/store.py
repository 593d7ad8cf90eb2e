"""The results of sweeps: one file a point in a folder, named by a digest of all that defines the point."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

import segscope.capture
from segscope.capture.null_device import card
from segscope.capture.toolchain import AddedInterpreter, find, get, names
from segscope.capture.toolchain.probe import nvfuser_libraries
from segscope.errors import SegscopeError, ToolchainError
from segscope.files import write_in_one_step
from segscope.model import Capture
from segscope.sweep.point import THUNDER_ROPE, Point
from segscope.sweep.result import Failure, Result, result_of
from segscope.sweep.toolchains import expand

FORMAT: Final = 1
"""Goes up when results of before are not to be used any more, for what a digest does not tell."""
_DIGITS: Final = 16
_LONGEST_NAME: Final = 150
_POINTS: Final = TypeAdapter(list[Point])
_PROGRAMS: Final = Path(segscope.capture.__file__).parent / "workloads"


class Store:
    """A folder of results. A point's file is its capture as JSON, or, ending in ``.failed.json``, its failure.

    Files are written in one step, so that what is there is whole. ``points.json`` names the points that were asked for.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._toolchains: dict[str, list[str]] = {}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing here. SegscopeError where one does, or nothing can be written."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / ".lock")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
            for left in self.folder.glob("*.partial"):
                left.unlink()
        except Timeout:
            raise SegscopeError(
                f"another segscope writes to {self.folder}: wait for it, or use another folder"
            ) from None
        except OSError as error:
            raise SegscopeError(f"cannot write to {self.folder}: {error.strerror}") from None
        try:
            yield
        finally:
            lock.release()

    def remember(self, points: Iterable[Point]) -> None:
        """Write down that the points were asked for."""
        known = self._points()
        if new := [point for point in points if point not in known]:
            keep(self.folder / "points.json", _POINTS.dump_json([*known, *new], indent=1) + b"\n")

    def all_of(self, workload: str) -> list[Result]:
        """Return every result of a workload: by what else was asked for, in that order, then by toolchain."""
        there = set(names())
        points = [point for point in self._points() if point.workload == workload and point.toolchain in there]
        series = list(dict.fromkeys(point.series for point in points))
        toolchains = expand(point.toolchain for point in points)
        points.sort(key=lambda point: (series.index(point.series), toolchains.index(point.toolchain)))
        return [result for point in points if (result := self.read(point))]

    def capture(self, result: Result) -> Capture:
        """Return the capture of a result that has one."""
        return Capture.model_validate_json(result.file.read_bytes())

    def read(self, point: Point) -> Result | None:
        """Return what became of the point; None where it is not there, or was written by another segscope."""
        file, failed = self._files(point)
        for path, kind in ((file, Capture), (failed, Failure)):
            try:
                return result_of(point, kind.model_validate_json(path.read_bytes()), path)
            except (FileNotFoundError, ValidationError):
                continue
        return None

    def settled(self, point: Point) -> Result | None:
        """Return what became of the point; None where it is to be run: also if it had no toolchain or device."""
        result = self.read(point)
        return result if result and result.ran else None

    def write(self, point: Point, found: Capture | Failure) -> Result:
        """Keep what became of the point, in place of what was there."""
        file, failed = self._files(point)
        path, other = (failed, file) if isinstance(found, Failure) else (file, failed)
        keep(path, f"{found.model_dump_json(indent=1)}\n".encode())
        other.unlink(missing_ok=True)
        return result_of(point, found, path)

    def _points(self) -> list[Point]:
        try:
            return _POINTS.validate_json((self.folder / "points.json").read_bytes())
        except (FileNotFoundError, ValidationError):
            return []

    def _files(self, point: Point) -> tuple[Path, Path]:
        words = [point.workload, point.config, point.toolchain, point.card, *point.options]
        name = re.sub(r"[^\w.,=+-]", "-", "_".join(filter(None, words)))[:_LONGEST_NAME]
        name = f"{name}_{self._digest(point)[:_DIGITS]}"
        return self.folder / f"{name}.json", self.folder / f"{name}.failed.json"

    def _digest(self, point: Point) -> str:
        if point.toolchain not in self._toolchains:
            self._toolchains[point.toolchain] = _identity(point.toolchain)
        facts = (
            FORMAT,
            point.workload,
            _program(point.workload),
            point.config,
            self._toolchains[point.toolchain],
            card(point.card).variable(),
            point.disable,
            point.enable,
        )
        return sha256(json.dumps(facts).encode()).hexdigest()


def keep(path: Path, content: bytes) -> None:
    """Write a file in one step. SegscopeError where it cannot be written."""
    try:
        write_in_one_step(path, content)
    except OSError as error:
        raise SegscopeError(f"cannot write {path}: {error.strerror}") from None


def _identity(name: str) -> list[str]:
    """Return what a toolchain is made of: its pins, or the packages of an interpreter that is there.

    Of an nvFuser that its user builds, the version is the same after each build; its libraries are not.
    """
    spec = get(name)
    if not isinstance(spec, AddedInterpreter):
        return [name, spec.python, spec.inductor, *spec.pins]
    try:
        packages = find(name).site_packages
        libraries = [(path, path.stat()) for path in nvfuser_libraries(Path(spec.interpreter))]
    except ToolchainError:
        return [name, spec.interpreter]
    kinds = ("torch", "nvfuser*", "lightning_thunder")
    found = sorted(path.name for kind in kinds for path in packages.glob(f"{kind}-*.dist-info"))
    built = [f"{path} {about.st_size} {about.st_mtime_ns}" for path, about in libraries]
    return [name, spec.interpreter, *found, *built]


@cache
def _program(workload: str) -> list[str]:
    """Return the text of the files that a child process runs for a workload."""
    files = [_PROGRAMS / "rope.py"] if workload == THUNDER_ROPE else sorted((_PROGRAMS / "definitions").glob("*.py"))
    return [path.read_text(encoding="utf-8") for path in files]
