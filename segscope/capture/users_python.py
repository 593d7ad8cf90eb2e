"""The Python that a command of the user's runs, and where its torch is."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from segscope.capture.toolchain import Toolchain
from segscope.capture.toolchain.probe import packages_of
from segscope.errors import DeviceError, ToolchainError

_PYTHON: Final = re.compile(r"python[\d.]*")
_LONG_PATH: Final = re.compile(r"""'''exec' (?P<path>"[^"]+"|'[^']+'|\S+) "\$0" "\$@\"""")
"""What pip and uv write as second line, behind ``#!/bin/sh``, where a path is too long for the first, or has blanks."""


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
    try:
        packages = packages_of(python)
    except ToolchainError as error:
        raise DeviceError(f"the null device stands in for a GPU of torch and nvFuser: {error}") from None
    return Toolchain(str(python), python, packages, managed=False)


def _python_of(program: Path) -> Path | None:
    if _PYTHON.fullmatch(program.name):
        return program
    with program.open("rb") as file:
        first, second = (file.readline(4096).decode("utf-8", "replace") for _ in range(2))
    if not first.startswith("#!"):
        return None
    if long_path := _LONG_PATH.match(second):
        return Path(long_path["path"].strip("\"'"))
    try:
        words = [word for word in shlex.split(first[2:]) if not word.startswith("-")]
    except ValueError:  # a quotation that does not end
        return None
    if words and Path(words[0]).name == "env":
        words = words[1:]
    if not words or not _PYTHON.fullmatch(Path(words[0]).name):
        return None
    found = shutil.which(words[0])
    return Path(found) if found else None
