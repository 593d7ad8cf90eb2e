"""DOT text to a picture: a thin, time-limited layer over a drawing program."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from segscope.errors import RenderError

FORMATS: Final = ("svg", "png", "pdf")

_PURE: Final = "graphviz-pure"
_MISSING: Final = (
    "no drawing program found: install Graphviz (its dot on PATH), or pip install 'segscope[draw]'; "
    "a .dot file needs none"
)


class Drawing(NamedTuple):
    """A picture, and what drew it."""

    data: bytes
    engine: str
    """Name and version: ``Graphviz 2.43.0``, ``graphviz-pure 0.2.2``."""


def draw(dot_text: str, format: str = "svg", timeout: float = 60) -> Drawing:
    """Draw DOT text as ``svg``, ``png`` or ``pdf`` with Graphviz's ``dot``, or with graphviz-pure where there is none.

    Raises RenderError where no program can, where it fails, and where it takes longer than ``timeout`` seconds.
    """
    if format not in FORMATS:
        raise RenderError(f"cannot draw {format!r}; formats: {', '.join(FORMATS)}")
    program = _find_program(format)
    data = _run([program, f"-T{format}"], dot_text, timeout)
    if not data:
        raise RenderError(f"{program} drew nothing")
    return Drawing(_without_doctype(data) if format == "svg" else data, _name_and_version(program))


def _find_program(format: str) -> str:
    if dot := shutil.which("dot"):
        return dot
    beside_python = str(Path(sys.executable).parent)
    pure = shutil.which(_PURE) or shutil.which(_PURE, path=beside_python)
    if pure is None:
        raise RenderError(_MISSING)
    if format == "pdf":
        raise RenderError("pdf needs Graphviz: install it (its dot on PATH); graphviz-pure draws svg and png")
    return pure


def _run(command: list[str], text: str, timeout: float) -> bytes:
    program = command[0]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise RenderError(f"{program} does not start: {error.strerror or error}") from None
    with child:
        try:
            data, errors = child.communicate(text.encode("utf-8", errors="replace"), timeout)
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise RenderError(
                f"{program} took longer than {timeout:g} s and was ended; write a .dot file and lay it out elsewhere"
            ) from None
    if child.returncode != 0:
        raise RenderError(f"{program} failed: {_first_error(errors, child.returncode)}")
    return data


def _first_error(errors: bytes, returncode: int) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", errors="replace").splitlines() if line.strip()]
    for line in lines:
        if "warning" not in line.lower():
            return line[:300]
    return f"ended by signal {-returncode}" if returncode < 0 else f"exit code {returncode}"


@lru_cache
def _name_and_version(program: str) -> str:
    name = _PURE if Path(program).name == _PURE else "Graphviz"
    try:
        answer = subprocess.run([program, "-V"], capture_output=True, timeout=10, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return name
    found = re.search(rb"version (\d[\w.~-]*)", answer.stderr + answer.stdout)
    return f"{name} {found.group(1).decode()}" if found else name


def _without_doctype(svg: bytes) -> bytes:
    """Drop the reference to the SVG DTD on the web: the only thing outside the file that Graphviz names."""
    return re.sub(rb"<!DOCTYPE[^>]*>\s*", b"", svg, count=1)
