"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

CARD: Final = "The card that the null device plays: a100, h100, h200, b200 or l4."
"""The help of ``--card``."""

F = TypeVar("F", bound=Callable[..., Any])


def place_options(command: F) -> F:
    """Add ``--device``, ``--card`` and ``--timeout``."""
    return _with(
        command,
        click.option(
            "--device", default="auto", show_default=True, help="cuda, null, or auto: a usable GPU, else null."
        ),
        click.option("--card", default="h200", show_default=True, help=CARD),
        click.option(
            "--timeout",
            default=600.0,
            show_default=True,
            metavar="SECONDS",
            help="Seconds after which a child process is ended.",
        ),
    )


def shape_options(command: F) -> F:
    """Add what sizes RoPE: ``--batch``, ``--sequence-length`` and ``--dtype``."""
    return _with(
        command,
        click.option("--batch", default=2, show_default=True, help="Sequences in the batch."),
        click.option("--sequence-length", type=int, help="Tokens in a sequence.  [default: the model's block size]"),
        click.option("--dtype", default="bfloat16", show_default=True, help="bfloat16, float16 or float32."),
    )


def results_option(command: F) -> F:
    """Add ``--out``: the folder that sweeps and bisections keep their captures in."""
    return _with(
        command,
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            default="segscope-sweep",
            show_default=True,
            help="Folder of results, which later runs go on with.",
        ),
    )


def only_with(ctx: click.Context, needed: str, there: bool, *names: str) -> None:
    """Raise UsageError where one of the options ``names`` was given and what it ``needed``, which it is of, is not."""
    for param in ctx.command.params:
        name = next((name for name in names if name in param.opts), None)
        if name and not there and ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{name} needs {needed}", ctx)


def _with(command: F, *options: Callable[[F], F]) -> F:
    return reduce(lambda made, option: option(made), reversed(options), command)
