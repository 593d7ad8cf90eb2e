"""``segscope count``: a bare integer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from segscope.cli.reading import read_capture, strict_option, warn

if TYPE_CHECKING:
    from segscope.dump.tally import GroupTally


@click.command(name="count", short_help="Count groups: a bare integer.")
@click.argument("file")
@click.option("--scheduler", metavar="NAME", help="Count the groups of this scheduler; without it, the kernel groups.")
@click.option("--fusion", "number", type=int, metavar="N", help="Count in fusion N only, from 0.")
@strict_option
def command(file: str, scheduler: str | None, number: int | None, strict: bool) -> None:
    """Count the kernel groups in FILE, or the groups of one scheduler.

    A kernel group launches a kernel: it is not no_op, and not an expr_eval of metadata operations alone. With
    --scheduler pointwise the number is that of grep -c 'g{(pointwise' FILE.
    """
    from segscope.dump.tally import tally
    from segscope.vocabulary import check_scheduler

    fusions = tally(file) if file != "-" and not strict else None
    if fusions is None or (number is not None and not 0 <= number < len(fusions)):
        fusions = _from_models(file, number, strict)
    elif number is not None:
        fusions = [fusions[number]]
    groups = [group for fusion in fusions for group in fusion]
    if scheduler is None:
        click.echo(sum(group.launches_kernel for group in groups))
        return
    check_scheduler(scheduler, {group.scheduler for group in groups})
    total = sum(group.scheduler == scheduler for group in groups)
    click.echo(total)
    others = Counter(group.scheduler for group in groups if group.launches_kernel)
    if total == 0 and others:
        listed = ", ".join(f"{n} {name}" for name, n in others.most_common())
        warn(f"no {scheduler} group here; the kernel groups are {listed}")


def _from_models(file: str, number: int | None, strict: bool) -> list[list[GroupTally]]:
    from segscope.dump.tally import GroupTally

    return [
        [GroupTally(group.scheduler, fusion.launches_kernel(group)) for group in fusion.groups]
        for fusion in read_capture(file, strict, number).fusions
    ]
