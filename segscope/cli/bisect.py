"""``segscope bisect``: which nvFuser changed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from segscope.cli.options import CARD, results_option

if TYPE_CHECKING:
    from segscope.model import Capture
    from segscope.sweep import Step


@click.command(name="bisect", short_help="Find the two toolchains between which an expression turned false.")
@click.argument("workload")
@click.option("--good", required=True, metavar="TOOLCHAIN", help="One in which the expression is true.")
@click.option("--bad", required=True, metavar="TOOLCHAIN", help="One in which it is false, older or newer.")
@click.option("--expect", required=True, metavar="EXPRESSION", help="As of segscope assert: 'kernel_groups <= 2'.")
@click.option("--config", help="LitGPT model, for RoPE.  [default: Llama-2-13b-hf]")
@click.option("--card", default="h200", show_default=True, help=CARD)
@click.option("--disable", default="", metavar="OPTION,...", help="NVFUSER_DISABLE.")
@click.option("--enable", default="", metavar="OPTION,...", help="NVFUSER_ENABLE.")
@results_option
@click.pass_context
def command(
    ctx: click.Context,
    workload: str,
    good: str,
    bad: str,
    expect: str,
    config: str | None,
    card: str,
    disable: str,
    enable: str,
    out: Path,
) -> None:
    """Capture WORKLOAD (see segscope sweep) in toolchains between two, by date, until neighbours differ.

    A toolchain in which there is no whole dump is passed over. Results are kept in --out as segscope sweep keeps them,
    and not made again.

    Exit codes: 0 where the neighbours are found, 1 where the ends do not differ as said, 2 where it could not be done.
    """
    from segscope.asserts.counts import count_of
    from segscope.asserts.language import read_expression
    from segscope.model import Capture, ParseReport
    from segscope.sweep import EndsAlikeError, between, bisect, date_of, product

    expected = read_expression(expect)
    nothing = Capture.model_construct(
        source="", fusions=(), report=ParseReport(lines=0, statements=0, unknown_operators={}, damage=())
    )
    for term in expected.terms:
        count_of(term, nothing)  # raises where the name means nothing
    configs = (config,) if config else ()
    order = between(good, bad)
    axes = product(workload, toolchains=order, configs=configs, cards=(card,), disable=(disable,), enable=(enable,))
    points = sorted(axes, key=lambda point: order.index(point.toolchain))

    def judge(capture: Capture) -> tuple[bool, str]:
        values = {term: count_of(term, capture) for term in expected.terms}
        return expected.holds(values), ", ".join(f"{term} is {value}" for term, value in values.items())

    def on_step(step: Step) -> None:
        click.echo(f"{step.verdict:5} {step.result.point.toolchain}: {step.said}")

    try:
        found = bisect(points, judge, folder=out, on_step=on_step)
    except EndsAlikeError as error:
        click.echo(f"\n{error}")
        ctx.exit(1)
    older, newer = sorted((found.good.result, found.bad.result), key=lambda result: date_of(result.point.toolchain))
    names = [result.point.toolchain for result in (older, newer)]
    click.echo(f"\n{expect}: between {' and '.join(f'{name} ({date_of(name)})' for name in names)}")
    if found.skipped:
        skipped = ", ".join(step.result.point.toolchain for step in found.skipped)
        click.echo(f"that is as near as it gets: nothing can be said of {skipped}")
    click.echo(f"what changed: segscope diff {older.file} {newer.file}")
