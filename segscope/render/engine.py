"""DOT text to a picture: a thin, time-limited layer over a drawing program."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
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


OLDEST: Final = (2, 40)
"""The Graphviz (December 2016) from which on all shapes that are drawn are there."""


class DrawingError(RenderError):
    """A drawing program failed, or took too long; the DOT text that it was given is kept here."""

    def __init__(self, message: str, dot_text: str) -> None:
        super().__init__(message)
        self.dot_text = dot_text

    def keep(self, target: str | Path) -> RenderError:
        """Write the DOT text beside the picture that there is not (``segments.svg.dot``); return an error naming it."""
        path = Path(f"{target}.dot")
        try:
            path.write_text(self.dot_text, encoding="utf-8", errors="replace")
        except OSError as error:
            return RenderError(f"{self}; {path}: {error.strerror or error}")
        return RenderError(f"{self}; the DOT text is in {path}")


class Drawing(NamedTuple):
    """A picture, and what drew it."""

    data: bytes
    engine: str
    """Name and version: ``Graphviz 2.43.0``, ``graphviz-pure 0.2.2``."""


def draw(dot_text: str, format: str = "svg", timeout: float = 60) -> Drawing:
    """Draw DOT text as ``svg``, ``png`` or ``pdf`` with Graphviz's ``dot``, or with graphviz-pure where there is none.

    Raises RenderError where no program can, DrawingError where it fails or takes longer than ``timeout`` seconds: it is
    ended then, with all that it started.
    """
    if format not in FORMATS:
        raise RenderError(f"cannot draw {format!r}; formats: {', '.join(FORMATS)}")
    program = _find_program(format)
    data = _run([program, f"-T{format}"], dot_text, timeout)
    if not data:
        raise DrawingError(f"{program} drew nothing", dot_text)
    return Drawing(_without_doctype(data) if format == "svg" else data, _name_and_version(program))


def save(path: str | Path, make: Callable[[], tuple[bytes, str]]) -> str:
    """Write a picture to a file, and return the name of what drew it; ``make`` returns both.

    RenderError where the file cannot be written. A drawing that fails leaves its DOT text beside ``path``, and the
    error names it.
    """
    try:
        data, drawn_by = make()
    except DrawingError as error:
        raise error.keep(path) from None
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise RenderError(f"cannot write {path}: {error.strerror or error}") from None
    return drawn_by


def _find_program(format: str) -> str:
    dot = shutil.which("dot")
    if dot is not None and not _is_old(dot):
        return dot
    beside_python = str(Path(sys.executable).parent)
    pure = shutil.which(_PURE) or shutil.which(_PURE, path=beside_python)
    if pure is None and dot is not None:
        raise RenderError(
            f"{dot} is {_name_and_version(dot)}, too old: install Graphviz {OLDEST[0]}.{OLDEST[1]} or later, or "
            "pip install 'segscope[draw]'; a .dot file needs none"
        )
    if pure is None:
        raise RenderError(_MISSING)
    if format == "pdf":
        raise RenderError("pdf needs Graphviz: install it (its dot on PATH); graphviz-pure draws svg and png")
    return pure


def _run(command: list[str], text: str, timeout: float) -> bytes:
    program = command[0]
    try:
        done = _ended(command, text, timeout)
    except OSError as error:
        raise RenderError(f"{program} does not start: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise DrawingError(
            f"{program} took longer than {timeout:g} s and was ended: draw less (groups, focus, query, collapse)", text
        ) from None
    if done.returncode != 0:
        raise DrawingError(f"{program} failed: {_first_error(done.stderr, done.returncode)}", text)
    return done.stdout


def _ended(command: list[str], text: str, timeout: float) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; where that does not come in time, end it with all that it started."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as child:
        try:
            out, errors = child.communicate(text.encode("utf-8", errors="replace"), timeout)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, child.returncode, out, errors)


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
        answer = _ended([program, "-V"], "", timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return name
    found = re.search(rb"version (\d[\w.~-]*)", answer.stderr + answer.stdout)
    return f"{name} {found.group(1).decode()}" if found else name


def _is_old(dot: str) -> bool:
    found = re.search(r"(\d+)\.(\d+)", _name_and_version(dot))
    return found is not None and (int(found.group(1)), int(found.group(2))) < OLDEST


def _without_doctype(svg: bytes) -> bytes:
    """Drop the reference to the SVG DTD on the web: the only thing outside the file that Graphviz names."""
    return re.sub(rb"<!DOCTYPE[^>]*>\s*", b"", svg, count=1)
