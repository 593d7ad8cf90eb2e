"""The Python that a command of the user's runs, and where its torch is."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from segscope.capture.toolchain import Toolchain
from segscope.errors import DeviceError

_PYTHON: Final = re.compile(r"python[\d.]*")
_LONG_PATH: Final = re.compile(r"""'''exec' (?P<path>"[^"]+"|\S+) "\$0" "\$@\"""")
"""What pip writes as second line, behind ``#!/bin/sh``, where a path is too long for the first."""
_WHERE: Final = """
import importlib.util, json
found = {name: importlib.util.find_spec(name) for name in ("torch", "nvfuser", "nvfuser_direct")}
print(json.dumps({name: spec.origin for name, spec in found.items() if spec and spec.origin}))
"""
_SECONDS: Final = 60


def toolchain_of(command: Sequence[str]) -> Toolchain:
    """Return the Python of a command as a toolchain.

    The command is a Python, by its name, or a script whose first line names one: pytest, torchrun, or one's own.
    Raises DeviceError for any other (a shell script, a launcher, make), and where that Python has no torch or nvFuser.
    """
    python = _python_of(Path(command[0]))
    if python is None:
        raise DeviceError(
            f"cannot tell which Python {Path(command[0]).name} runs, and so where its torch is: "
            "put segscope in front of python, python -m pytest, or a script whose first line names a Python"
        )
    where = _modules(python)
    if "torch" not in where or not where.keys() & {"nvfuser", "nvfuser_direct"}:
        missing = "nvFuser" if "torch" in where else "torch"
        raise DeviceError(f"{python} has no {missing}: the null device stands in for a GPU of torch and nvFuser")
    return Toolchain(str(python), python, Path(where["torch"]).parent.parent, managed=False)


def _python_of(program: Path) -> Path | None:
    if _PYTHON.fullmatch(program.name):
        return program
    with program.open("rb") as file:
        first, second = (file.readline(4096).decode("utf-8", "replace") for _ in range(2))
    if not first.startswith("#!"):
        return None
    if long_path := _LONG_PATH.match(second):
        return Path(long_path["path"].strip('"'))
    words = [word for word in shlex.split(first[2:]) if not word.startswith("-")]
    if words and Path(words[0]).name == "env":
        words = words[1:]
    if not words or not _PYTHON.fullmatch(Path(words[0]).name):
        return None
    found = shutil.which(words[0])
    return Path(found) if found else None


def _modules(python: Path) -> dict[str, str]:
    """Return the files of torch and nvFuser; nothing is imported."""
    try:
        done = subprocess.run([python, "-c", _WHERE], capture_output=True, text=True, timeout=_SECONDS)
        where: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        raise DeviceError(f"{python} does not run as a Python") from None
    return where
