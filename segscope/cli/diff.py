"""``segscope diff``: what differs between two segmentations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from segscope.cli.reading import choose_fusions, strict_option, warn_about
from segscope.cli.writing import say
from segscope.errors import SegscopeError

if TYPE_CHECKING:
    from segscope.model import Capture


@click.command(name="diff", short_help="Say which groups merged, split or moved; exit code 1 where any did.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--fusion", "number", type=int, metavar="N", help="Compare fusion N of each only, from 0.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "github"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Also draw both beside each other; the suffix says the format: .svg, .png, .pdf or .dot.",
)
@strict_option
@click.pass_context
def command(
    ctx: click.Context, a: str, b: str, number: int | None, form: str, output: str | None, strict: bool
) -> None:
    """Compare how A and B cut their fusions: groups that merged or split, expressions that moved.

    A and B are dumps or files capture.json; one may be -, standard input. Groups are matched by what they compute, not
    by names, numbers or order. Exit codes: 0 where both compute the same and are cut the same way, 1 where not, 2 where
    they could not be compared, as where a dump is incomplete.
    """
    from segscope.compare import diff
    from segscope.compare.report import FORMATS
    from segscope.render.diff_dot import draw, format_of

    if a == b == "-":
        raise click.UsageError("A and B are both standard input; name a file for one", ctx)
    if output:
        format_of(output)
    found = diff(*(_whole(file, number, strict) for file in (a, b)))
    say(FORMATS[form](found))
    if output:
        drawn_by = draw(found, output)
        click.echo(f"wrote {output} (drawn by {drawn_by})", err=True)
    ctx.exit(0 if found.is_same else 1)


def _whole(file: str, number: int | None, strict: bool) -> Capture:
    """Read a capture with the fusions that are to be compared. SegscopeError where the dump of one is incomplete."""
    from segscope.dump import read

    capture = read(file, strict=strict)
    capture = capture.model_copy(update={"source": file, "fusions": choose_fusions(capture, number)})
    for fusion in capture.fusions:
        if not fusion.complete:
            damage = next((d for d in capture.report.damage if d.line >= fusion.first_line), None)
            why = f" (line {damage.line}: {damage.reason})" if damage else ""
            raise SegscopeError(f"{file}: the dump of fusion {fusion.index} is incomplete{why}; a diff needs all of it")
    warn_about(capture)
    return capture
