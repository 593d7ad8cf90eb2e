"""``segscope count``: a bare integer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from segscope.model import SegmentedFusion


@click.command(name="count", short_help="Count groups: a bare integer.")
@click.argument("file")
@click.option("--scheduler", metavar="NAME", help="Count the groups of this scheduler; without it, the kernel groups.")
@click.option("--fusion", "number", type=int, metavar="N", help="Count in fusion N only, from 0.")
def command(file: str, scheduler: str | None, number: int | None) -> None:
    """Count the kernel groups in FILE, or the groups of one scheduler.

    A kernel group launches a kernel: it is not no_op, and not an expr_eval of metadata operations alone. With
    --scheduler pointwise the number is that of grep -c 'g{(pointwise' FILE.
    """
    from segscope.cli.reading import choose_fusions, read_capture, warn

    capture = read_capture(file)
    fusions = choose_fusions(capture, number)
    total = capture.model_copy(update={"fusions": fusions}).count(scheduler)
    click.echo(total)
    if scheduler is not None and total == 0 and (others := _kernel_schedulers(fusions)):
        warn(f"no {scheduler} group here; the kernel groups are {others}")


def _kernel_schedulers(fusions: Iterable[SegmentedFusion]) -> str:
    counts = Counter(group.scheduler for fusion in fusions for group in fusion.kernel_groups)
    return ", ".join(f"{n} {name}" for name, n in counts.most_common())
