"""``segscope render``: fusions as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from segscope.cli.reading import choose_fusions, read_capture, strict_option

if TYPE_CHECKING:
    from segscope.explain import Rules
    from segscope.model import Capture, SegmentedFusion


@click.command(name="render", short_help="Draw fusions as SVG, PNG, PDF or DOT.")
@click.argument("file")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="PATH",
    help="Where to write; the suffix says the format: .svg, .png, .pdf or .dot. - writes SVG to standard output.",
)
@click.option("--fusion", "number", type=int, metavar="N", help="Draw fusion N only, from 0.")
@click.option(
    "--grouping",
    type=click.Choice(["segmented", "proof"]),
    default="segmented",
    show_default=True,
    help="The groups as segmented, or the fewest connected kernel groups (see segscope explain --headroom).",
)
@click.option(
    "--rules",
    type=click.Choice(["boundary", "resize"]),
    help="What the kernels of the proof may hold.  [default: what this nvFuser allowed]",
)
@strict_option
def command(file: str, output: str, number: int | None, grouping: str, rules: Rules | None, strict: bool) -> None:
    """Draw the segmented fusions in FILE: groups as boxes, what crosses between them as arrows.

    FILE is a dump or a capture.json; - is standard input. Of several fusions, fusion 1 goes to NAME-1.svg, and so on.
    """
    from segscope.render import format_of

    if output != "-":
        format_of(output)
    capture = read_capture(file, strict)
    fusions = choose_fusions(capture, number)
    if grouping == "proof":
        fusions = tuple(_proof(fusion, rules) for fusion in fusions)
    elif rules:
        raise click.UsageError("--rules are those of a proof: use it with --grouping proof")
    if output == "-":
        _to_stdout(capture.model_copy(update={"fusions": fusions}))
    else:
        render_all(capture, fusions, Path(output))


def render_all(capture: Capture, fusions: Sequence[SegmentedFusion], path: Path) -> None:
    """Draw fusions into ``path``, or, where there are several, into ``NAME-N.svg`` each, and print what drew them."""
    from segscope.render import draw

    for fusion in fusions:
        target = path if len(fusions) == 1 else path.with_name(f"{path.stem}-{fusion.index}{path.suffix}")
        engine = draw(fusion, target, _title(capture))
        click.echo(f"wrote {target} (drawn by {engine})")


def _to_stdout(capture: Capture) -> None:
    from segscope.render import picture

    data, engine = picture(capture.fusion, "svg", _title(capture))
    click.echo(data, nl=False)
    click.echo(f"drawn by {engine}", err=True)


def _proof(fusion: SegmentedFusion, rules: Rules | None) -> SegmentedFusion:
    from segscope.explain import headroom, rules_of

    chosen = rules or rules_of(fusion)
    return headroom(fusion, [chosen]).bound(chosen, connected=True).proof


def _title(capture: Capture) -> str | None:
    from segscope.render.words import capture_name

    return capture_name(capture) if capture.provenance else None
