"""``segscope show``: fusions and their groups as tables, and as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from segscope.cli.reading import read_captures, strict_option
from segscope.cli.writing import console

if TYPE_CHECKING:
    from segscope.model import Capture


@click.command(name="show", short_help="Show fusions and their groups as tables and trees.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print what was read in the form of a capture.json.")
@click.option("--fusion", "number", type=int, metavar="N", help="Show fusion N only, from 0.")
@strict_option
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], as_json: bool, number: int | None, strict: bool) -> None:
    """Show the segmented fusions in each FILE: how many groups each has, by scheduler, and what each group computes.

    FILE is a dump or a capture.json; - is standard input. Of a single fusion (see --fusion), the expressions of each
    group follow as a tree. Of several files only the counts are shown, side by side; the exit code is 2 where one could
    not be read.
    """
    from segscope.errors import SegscopeError

    if as_json and len(files) > 1:
        raise SegscopeError(f"--json prints one capture, and {len(files)} files are named")
    captures = [capture for _, capture in read_captures(files, strict, number)]
    if captures and as_json:
        click.echo(captures[0].model_dump_json(indent=1))
    elif captures:
        _show(captures, alone=len(files) == 1)
    ctx.exit(0 if len(captures) == len(files) else 2)


def _show(captures: list[Capture], *, alone: bool) -> None:
    """Show the counts, and more of a file that is alone."""
    from segscope.render.labels import printable
    from segscope.render.table import captures_table, fusion_table, fusion_tree

    terminal = console()
    terminal.print(captures_table(captures))
    if not alone:
        return
    for fusion in captures[0].fusions:
        terminal.print()
        terminal.print(printable(str(fusion)), style="bold")
        terminal.print(fusion_table(fusion))
    if len(captures[0].fusions) == 1:
        terminal.print()
        terminal.print(fusion_tree(captures[0].fusions[0]))
