"""Find a Python of a given version that can make virtual environments."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from segscope.errors import ToolchainError

# Prints where this Python is, and whether it can make environments, when it is the right one.
_PROBE = """
import importlib.util, sys
version = "%d.%d" % sys.version_info[:2]
if version == sys.argv[1] and sys.implementation.name == "cpython" and sys.maxsize > 2**32:
    print(all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")), sys.executable)
"""
_PROBE_SECONDS = 20


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs, and how to make a virtual environment with it."""

    python: Path
    uv: Path | None
    """The ``uv`` that has to make the environment, where this Python has no ``venv`` and ``ensurepip``."""


def find_interpreter(version: str, environ: Mapping[str, str] = os.environ) -> Interpreter:
    """Return a CPython ``version`` (such as ``3.12``) from PATH, pyenv or uv.

    Each candidate is run, since a name on PATH promises nothing: pyenv's ``python3.12`` fails while another
    version is selected.

    Raises:
        ToolchainError: there is none, or none that can make a virtual environment.
    """
    uv = shutil.which("uv", path=environ.get("PATH"))
    bare: Path | None = None
    tried: set[str] = set()
    for candidate in _candidates(version, uv, environ):
        if candidate in tried:
            continue
        tried.add(candidate)
        can_make, _, python = _output([candidate, "-I", "-c", _PROBE, version], environ).partition(" ")
        if can_make == "True":
            return Interpreter(Path(python), uv=None)
        if can_make == "False":
            bare = bare or Path(python)
    if bare and uv:
        return Interpreter(bare, uv=Path(uv))
    if bare:
        raise ToolchainError(
            f"{bare} cannot make virtual environments (no venv and ensurepip modules): "
            f"install your system's package for them (on Debian and Ubuntu: python{version}-venv), or uv"
        )
    raise ToolchainError(
        f"no Python {version} found on PATH, under pyenv or through uv: get one from your system's "
        f"packages (python{version} and python{version}-venv), or with: uv python install {version}, "
        f"or: pyenv install {version}"
    )


def _candidates(version: str, uv: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    yield from _executables(folders, f"python{version}")
    pyenv = Path(environ.get("PYENV_ROOT") or Path(environ.get("HOME", "~")).expanduser() / ".pyenv")
    versions = sorted(pyenv.glob(f"versions/{version}.*/bin"), key=_patch_number, reverse=True)
    yield from _executables(versions, f"python{version}")
    if uv and (path := _output([uv, "python", "find", version], environ)):
        yield path
    yield from _executables(folders, "python3")
    yield sys.executable


def _executables(folders: list[Path], name: str) -> Iterator[str]:
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            yield str(folder / name)


def _patch_number(bin_folder: Path) -> int:
    patch = bin_folder.parent.name.rpartition(".")[2]
    return int(patch) if patch.isdigit() else -1


def _output(command: list[str], environ: Mapping[str, str]) -> str:
    """Return what a command printed, or nothing where it failed."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=dict(environ), timeout=_PROBE_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
