"""``segscope show``: fusions and their groups as tables, and as a tree."""

from __future__ import annotations

import click

from segscope.cli.reading import read_capture, strict_option
from segscope.cli.writing import console


@click.command(name="show", short_help="Show fusions and their groups as tables and trees.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print what was read in the form of a capture.json.")
@click.option("--fusion", "number", type=int, metavar="N", help="Show fusion N only, from 0.")
@strict_option
def command(files: tuple[str, ...], as_json: bool, number: int | None, strict: bool) -> None:
    """Show the segmented fusions in each FILE: how many groups each has, by scheduler, and what each group computes.

    FILE is a dump or a capture.json; - is standard input. Of a single fusion (see --fusion), the expressions of each
    group follow as a tree. Of several files only the counts are shown, side by side.
    """
    from segscope.errors import SegscopeError

    if as_json and len(files) > 1:
        raise SegscopeError(f"--json prints one capture, and {len(files)} files are named")
    captures = [read_capture(file, strict, number) for file in files]
    if as_json:
        click.echo(captures[0].model_dump_json(indent=1))
        return

    from segscope.render.labels import printable
    from segscope.render.table import captures_table, fusion_table, fusion_tree

    terminal = console()
    terminal.print(captures_table(captures))
    if len(captures) > 1:
        return
    for fusion in captures[0].fusions:
        terminal.print()
        terminal.print(printable(str(fusion)), style="bold")
        terminal.print(fusion_table(fusion))
    if len(captures[0].fusions) == 1:
        terminal.print()
        terminal.print(fusion_tree(captures[0].fusions[0]))
