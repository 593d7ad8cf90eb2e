"""What commands that read a capture share: reading with warnings, and choosing fusions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from segscope.cli.writing import say
from segscope.errors import SegscopeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from segscope.model import Capture, SegmentedFusion

_SHOWN = 3


strict_option = click.option("--strict", is_flag=True, help="Fail if anything in a dump cannot be read.")


def read_capture(path: str, strict: bool, number: int | None = None) -> Capture:
    """Read a dump or a capture (``-`` is standard input), of one fusion or of all.

    Warns of what is not whole in it, or fails if ``strict``. SegscopeError where there is no fusion ``number``.
    """
    from segscope.dump import read

    capture = read(path, strict=strict)
    warn_about(capture)
    return capture if number is None else capture.model_copy(update={"fusions": choose_fusions(capture, number)})


def read_captures(paths: Iterable[str], strict: bool, number: int | None = None) -> list[tuple[str, Capture]]:
    """Read several as ``read_capture`` does. One that cannot be read keeps nobody from the others; why is printed."""
    captures = []
    for path in paths:
        try:
            captures.append((path, read_capture(path, strict, number)))
        except SegscopeError as error:
            say(f"segscope: error: {error}", err=True)
    return captures


def warn_about(capture: Capture) -> None:
    """Warn on standard error of a run that ended badly, and of what was cut off, damaged, or not known in its dump."""
    source = capture.source
    provenance = capture.provenance
    if provenance and (end := provenance.end).outcome != "ok":
        how = end.how
        warn(f"{source}: the child process ended badly ({how}); this is what it printed before")
    for note in provenance.notes if provenance else ():
        warn(f"{source}: {note}")
    for damage in capture.report.damage[:_SHOWN]:
        warn(f"{source}: incomplete: line {damage.line}: {damage.reason}")
    if (others := len(capture.report.damage) - _SHOWN) > 0:
        warn(f"{source}: incomplete: {others} more such lines")
    for error in capture.errors:
        warn(f"{source}: line {error.line}: nvFuser failed: {error.text}")
    if unknown := capture.report.unknown_operators:
        listed = ", ".join(f"{name} ({n})" for name, n in unknown.items())
        warn(f"{source}: unknown operators, kept as text: {listed}")


def warn(text: str) -> None:
    """Print one line of warning on standard error."""
    say(f"segscope: warning: {text}", err=True)


def choose_fusions(capture: Capture, number: int | None) -> tuple[SegmentedFusion, ...]:
    """Return the fusion of that number, or all where none is named. SegscopeError where there is no such fusion."""
    if number is None:
        return capture.fusions
    chosen = tuple(fusion for fusion in capture.fusions if fusion.index == number)
    if not chosen:
        first, last = capture.fusions[0].index, capture.fusions[-1].index
        valid = f"the only fusion is {first}" if first == last else f"fusions are {first} to {last}"
        raise SegscopeError(f"{capture.source}: no fusion {number}; {valid}")
    return chosen
