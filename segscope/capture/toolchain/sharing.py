"""Take packages over from other toolchains, by hard links, so that each is on disk once."""

import csv
import os
from contextlib import suppress
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

from segscope.capture.toolchain.environment import installed_version, site_packages_of
from segscope.capture.toolchain.folder import lock_of, read_marker
from segscope.capture.toolchain.spec import ToolchainSpec, is_exact, package_of, version_of


def take_over(spec: ToolchainSpec, folder: Path) -> int:
    """Link what the toolchains beside ``folder`` have of the pins into its environment; return of how many packages.

    Only a package with the same pin, in an environment of the same Python, counts; a file that was built by hand has
    none. Nothing comes from a toolchain that another process fills or removes just now, or over a link that the file
    system refuses.
    """
    site_packages = site_packages_of(folder, spec.python)
    missing = {pin for pin in spec.pins if is_exact(pin) and not installed_version(site_packages, package_of(pin))}
    asked = len(missing)
    for sibling in sorted(folder.parent.iterdir()):
        if sibling == folder or not _has(sibling, spec.python, missing):
            continue
        with suppress(TimeoutError, OSError), lock_of(sibling).acquire(timeout=0):
            for pin in _has(sibling, spec.python, missing):
                if _link(pin, site_packages_of(sibling, spec.python), site_packages):
                    missing.remove(pin)
    return asked - len(missing)


def _has(folder: Path, python: str, pins: set[str]) -> set[str]:
    """Return those of the pins that a finished toolchain with that Python has."""
    marker = read_marker(folder)
    return pins.intersection(marker.pins) if marker and marker.has_python(python) else set()


def _link(pin: str, source: Path, target: Path) -> bool:
    """Link a package's files from one site-packages folder into another, all of them or none.

    What it has outside of them is left out: scripts, which name their interpreter.
    """
    made: list[Path] = []
    folders: set[Path] = set()
    try:
        for name in _files(pin, source):
            folders.add((target / name).parent)
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(source / name, target / name)
            made.append(target / name)
    except OSError:
        for path in made:
            path.unlink()
        for folder in sorted(folders, reverse=True):
            with suppress(OSError):  # other packages have files there
                folder.rmdir()
        return False
    return bool(made)


def _files(pin: str, site_packages: Path) -> list[str]:
    """Return the files of a package, as its installer recorded them; none where another version is installed."""
    found = next(iter(Distribution.discover(name=package_of(pin), path=[str(site_packages)])), None)
    record = found.read_text("RECORD") if found and found.version == version_of(pin) else None
    names = [PurePosixPath(row[0]) for row in csv.reader((record or "").splitlines()) if row]
    return [str(name) for name in names if not (name.is_absolute() or {"..", "__pycache__"}.intersection(name.parts))]
