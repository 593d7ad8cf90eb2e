"""``segscope executors``: the same workload through several executors, and why their kernels differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from segscope.capture.cases import CASES, EDITS, EXECUTORS
from segscope.capture.configs import CONFIGS
from segscope.cli.options import place_options, shape_options

if TYPE_CHECKING:
    from segscope.compare.executors import Comparison

FORMATS = ("text", "json", "markdown")
_WRITTEN = ("comparison.json", "comparison.md", "forward.svg", "backward.svg")
"""What an earlier run may have left in the folder."""


@click.command(name="executors", short_help="Compare the kernels of eager, torch.compile and Thunder's executors.")
@click.argument("workload", type=click.Choice(["rope"]))
@click.option("--config", help=f"LitGPT model whose RoPE to run: {', '.join(CONFIGS)}.  [default: tiny-llama-1.1b]")
@click.option(
    "--executor",
    "executors",
    multiple=True,
    metavar="NAME",
    help="eager, torch.compile, or thunder+NAME+NAME with names of Thunder's executors, the first asked first: "
    f"nvfuser, torch.compile, torch.compile_cat, ... Several are compared.  [default: {', '.join(EXECUTORS)}]",
)
@click.option("--grad", is_flag=True, help="Ask for gradients, and run backward too.")
@click.option(
    "--case",
    type=click.Choice(list(CASES)),
    help="A comparison that was reported, in a toolchain of its time; gives toolchain, config, executors and --grad.",
)
@click.option(
    "--edit",
    "edits",
    multiple=True,
    metavar="NAME",
    help=f"Edit Inductor's forward graphs before one thing at a time is taken away: {', '.join(EDITS)}; behind "
    "save-only a colon and the name of an output.",
)
@click.option("--why-not", is_flag=True, help="Also show why pieces were not fused: Inductor's reasons and nvFuser's.")
@click.option("--toolchain", metavar="NAME", help="Toolchain to run in.  [default: nvfuser-0.2.36]")
@place_options
@shape_options
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print it."
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="comparison.json of an earlier run: say what changed, and exit with 1 if kernel counts did.",
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for comparison.json, .md and pictures."
)
@click.pass_context
def command(
    ctx: click.Context,
    workload: str,
    config: str | None,
    executors: tuple[str, ...],
    grad: bool,
    case: str | None,
    edits: tuple[str, ...],
    why_not: bool,
    toolchain: str | None,
    device: str,
    card: str,
    batch: int,
    sequence_length: int | None,
    dtype: str,
    timeout: float,
    form: str,
    against: Path | None,
    out: Path | None,
) -> None:
    """Run the same workload through several executors, each in a process of its own, and explain their kernels.

    Needs no GPU: regions, segments, kernels and launches are counted on the null device. On a GPU kernels are timed.

    The exit code is 1 where an executor failed, and 2 where all did.

    Where an executor makes other kernels than torch.compile, its graphs are compiled again with one thing at a time
    taken away, to see what matters.
    """
    from segscope.cli.writing import made
    from segscope.compare.executors import compare_rope_executors, read
    from segscope.errors import SegscopeError

    before = read(against) if against else None
    if out:
        made(out)
    known = CASES[case] if case else None
    comparison = compare_rope_executors(
        config or (known.config if known else "tiny-llama-1.1b"),
        executors=executors or (known.executors if known else EXECUTORS),
        grad=grad or known is not None,
        edits=edits,
        toolchain=toolchain or (known.toolchain if known else None),
        device=device,
        card=card,
        batch=batch,
        sequence_length=sequence_length,
        dtype=dtype,
        timeout=timeout,
    )
    some_ran = any(run.passes for run in comparison.runs)
    if some_ran or form == "json":
        _show(comparison, form, why_not)
    if out:
        _write(comparison, made(out, without=_WRITTEN), why_not)
    if not some_ran:
        problems = "; ".join(f"{run.executor}: {run.problem}" for run in comparison.runs)
        raise SegscopeError(f"no executor ran: {problems}")
    changed = before is not None and _show_changes(before, comparison, to_stderr=form == "json")
    ctx.exit(1 if changed or any(run.problem for run in comparison.runs) else 0)


def _show(comparison: Comparison, form: str, why_not: bool) -> None:
    from segscope.render.executors.markdown import markdown
    from segscope.render.executors.table import text, why_not_table

    if form == "json":
        click.echo(comparison.model_dump_json(indent=1))
        return
    if form == "markdown":
        click.echo(markdown(comparison, why_not=why_not), nl=False)
        return
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(text(comparison))
    for run in comparison.runs if why_not else ():
        if any(region.why_not for one in run.passes for region in one.regions):
            console.print(f"\nwhy not fused: {run.executor}")
            console.print(why_not_table(run))


def _write(comparison: Comparison, folder: Path, why_not: bool) -> None:
    from segscope.render.engine import draw
    from segscope.render.executors.markdown import markdown
    from segscope.render.executors.picture import picture
    from segscope.render.executors.rows import directions

    (folder / "comparison.json").write_text(comparison.model_dump_json(indent=1) + "\n", encoding="utf-8")
    (folder / "comparison.md").write_text(markdown(comparison, why_not=why_not), encoding="utf-8")
    for direction in directions(comparison):
        (folder / f"{direction}.svg").write_bytes(draw(picture(comparison, direction)).data)
    click.echo(f"wrote comparison.json, comparison.md and pictures to {folder}", err=True)


def _show_changes(before: Comparison, comparison: Comparison, *, to_stderr: bool) -> bool:
    """Say what changed, beside what is for programs; return whether counts of kernels did."""
    from segscope.compare.executors.changed import changes

    found = changes(before, comparison)
    for text in [change.text for change in found] or ["nothing changed"]:
        click.echo(text, err=to_stderr)
    return any(change.is_of_kernels for change in found)
