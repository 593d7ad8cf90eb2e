"""``segscope sweep``: one workload over toolchains, configurations, cards and options."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from segscope.cli.options import CARD, results_option
from segscope.cli.reading import warn
from segscope.cli.writing import console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Executor

    from segscope.model import Capture
    from segscope.sweep import Point, Result


@click.command(name="sweep", short_help="Capture a workload over toolchains, cards and options; table and chart.")
@click.argument("workload")
@click.option(
    "--toolchain",
    "toolchains",
    multiple=True,
    metavar="NAME|A..B|all",
    help="A name, those from A to B by date, or all that have a date; installed if need be.  [default: nvfuser-0.2.36]",
)
@click.option("--config", "configs", multiple=True, help="LitGPT model, for RoPE.  [default: Llama-2-13b-hf]")
@click.option("--card", "cards", multiple=True, help=f"{CARD}  [default: h200]")
@click.option("--disable", multiple=True, metavar="OPTION,...|none", help="NVFUSER_DISABLE; none: without.")
@click.option("--enable", multiple=True, metavar="OPTION,...|none", help="NVFUSER_ENABLE; none: without.")
@click.option("--jobs", type=click.IntRange(1), help="Points that run at a time here.  [default: the CPUs]")
@click.option("--dask", "address", metavar="ADDRESS", help="Run them on the workers of this Dask scheduler.")
@click.option("--retry-failed", is_flag=True, help="Run those again of which there is no whole dump.")
@results_option
@click.pass_context
def command(
    ctx: click.Context,
    workload: str,
    toolchains: tuple[str, ...],
    configs: tuple[str, ...],
    cards: tuple[str, ...],
    disable: tuple[str, ...],
    enable: tuple[str, ...],
    jobs: int | None,
    address: str | None,
    retry_failed: bool,
    out: Path,
) -> None:
    """Capture WORKLOAD once for each combination of the options that are given several times, on the null device.

    WORKLOAD is rope, rope-float32, slice-rotate-cat, ...: programs that every nvFuser takes as its own
    FusionDefinition (a wrong name lists all), or thunder-rope: RoPE through Thunder, without bookending.

    In --out each point has a file, its capture as JSON (or why there is none). A point that has one is not run
    again, so that the same command goes on where it was ended, and more points can be added. Beside them, of all
    points of WORKLOAD in --out: table.csv, table.json, table.parquet, chart.svg and chart.html (kernel groups by date
    and scheduler).

    Exit codes: 0 where every point has its counts, 1 where one has none, 2 where the sweep could not be made.
    """
    from segscope.sweep import missing, product, sweep
    from segscope.sweep.outputs import write_outputs
    from segscope.sweep.store import Store

    points = product(workload, toolchains=toolchains, configs=configs, cards=cards, disable=disable, enable=enable)
    if address and jobs:
        raise click.UsageError("--jobs is of this machine; the workers of --dask decide how many points run at a time")
    to_run = missing(points, folder=out, retry_failed=retry_failed)
    capture = _capture(() if address else dict.fromkeys(point.toolchain for point in to_run))
    with _executor(address, jobs, to_run) as executor:
        try:
            with _progress(len(points), to_run) as on_result:
                results = sweep(
                    points,
                    folder=out,
                    executor=executor,
                    retry_failed=retry_failed,
                    capture=capture,
                    on_result=on_result,
                )
        except KeyboardInterrupt:
            click.echo("segscope: waiting for what is running; the same command goes on from what is done", err=True)
            raise
    everything = Store(out).all_of(workload)
    written, lacking = write_outputs(everything, out)
    _show(results)
    others = f", of all {len(everything)} points of {workload} in {out}" if len(everything) > len(results) else ""
    click.echo(f"wrote {', '.join(map(str, written))}{others}")
    if lacking:
        warn(f"no others without {' and '.join(lacking)}: pip install 'segscope[sweep]'")
    failed = [result for result in results if not result.counted]
    _tell(failed)
    ctx.exit(1 if failed else 0)


def _capture(toolchains: Iterable[str]) -> Callable[[Point], Capture]:
    """Install toolchains, one by one, so that what is said of it can be read; return what captures a point.

    What cannot be installed is not tried again: its points tell why.
    """
    from segscope.capture.toolchain import ensure
    from segscope.errors import ToolchainError
    from segscope.sweep import capture_point

    problems: dict[str, str] = {}
    for name in toolchains:
        try:
            ensure(name)
        except ToolchainError as error:
            problems[name] = str(error)

    def capture(point: Point) -> Capture:
        if point.toolchain in problems:
            raise ToolchainError(problems[point.toolchain])
        return capture_point(point)

    return capture if problems else capture_point


def _executor(
    address: str | None, jobs: int | None, to_run: Sequence[Point]
) -> AbstractContextManager[Executor | None]:
    from concurrent.futures import ThreadPoolExecutor

    from segscope.sweep.cluster import dask_executor

    if not to_run:
        return nullcontext()
    return dask_executor(address) if address else ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)))


@contextmanager
def _progress(total: int, to_run: Sequence[Point]) -> Iterator[Callable[[Result], None]]:
    """Show a bar on standard error where that is a terminal, else a line a point that is run."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    done = failed = 0
    running = frozenset(to_run)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task("", total=total)

        def on_result(result: Result) -> None:
            nonlocal done, failed
            done += 1
            failed += not result.counted
            bar.update(task, advance=1, description=f"{failed} without counts" if failed else "")
            if not console.is_terminal and result.point in running:
                click.echo(f"segscope: {done}/{total} {result.point}: {result.outcome}", err=True)

        yield on_result


def _tell(failed: Sequence[Result]) -> None:
    """Warn of points without counts: a line for each reason."""
    for reason, count in Counter(result.reason for result in failed).items():
        first = next(result.point for result in failed if result.reason == reason)
        warn(f"{first}: {reason}" if count == 1 else f"{count} points, the first of them {first}: {reason}")


def _show(results: Sequence[Result]) -> None:
    """Print a table a series: a row a toolchain."""
    from rich.table import Table

    terminal = console()
    for series, found in groupby(results, lambda result: result.point.series):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name in ("toolchain", "kernel groups", "groups by scheduler", "child"):
            table.add_column(name, justify="right" if name == "kernel groups" else "left", overflow="fold")
        for result in found:
            kernels = str(result.kernel_groups) if result.counted else "-"
            listed = ", ".join(f"{n} {name}" for name, n in result.schedulers.items())
            table.add_row(result.point.toolchain, kernels, listed, result.outcome)
        terminal.print(series, table, "", sep="\n")
