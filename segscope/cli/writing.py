"""What commands share that write: to the terminal, or to a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from segscope.errors import SegscopeError


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
