"""What commands share that write: to the terminal, or to a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from segscope.errors import SegscopeError

if TYPE_CHECKING:
    from rich.console import Console

_WIDE: Final = 1000
"""Characters: no table is folded at that."""


def console() -> Console:
    """Return what prints tables: as wide as the terminal, or as ``COLUMNS`` says; elsewhere no name is folded."""
    from rich.console import Console

    fits = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, width=None if fits else _WIDE)


def say(text: str, *, err: bool = False) -> None:
    """Print lines that may have text of a dump in them; a terminal acts on nothing in them."""
    from segscope.render.labels import printable_lines

    click.echo(printable_lines(text), err=err)


def made(folder: Path, *, without: Iterable[str] = ()) -> Path:
    """Make a folder to write to, and remove what an earlier run wrote into it: ``without`` are patterns of names.

    SegscopeError where the folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in without:
            for old in folder.glob(pattern):
                old.unlink()
    except OSError as error:
        raise SegscopeError(f"cannot write to {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise SegscopeError(f"cannot write to {folder}: Permission denied")
    return folder
