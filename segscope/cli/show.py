"""``segscope show``: a capture as tables, or as JSON."""

from __future__ import annotations

import click


@click.command(name="show", short_help="Show fusions and their groups, as tables or JSON.")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print the capture as JSON.")
@click.option("--fusion", "number", type=int, metavar="N", help="Show fusion N only, from 0.")
def command(file: str, as_json: bool, number: int | None) -> None:
    """Show the fusions in FILE, and the groups of each.

    FILE is a dump or a capture.json; - is standard input.
    """
    from segscope.cli.reading import choose_fusions, read_capture

    capture = read_capture(file)
    chosen = capture.model_copy(update={"fusions": choose_fusions(capture, number)})
    if as_json:
        click.echo(chosen.model_dump_json(indent=2))
        return
    from rich.console import Console

    from segscope.render.table import capture_table, fusion_table
    from segscope.render.words import headline

    console = Console(highlight=False, markup=False)
    console.print(capture_table(chosen))
    for fusion in chosen.fusions:
        console.print()
        console.print(headline(fusion), style="bold")
        console.print(fusion_table(fusion))
