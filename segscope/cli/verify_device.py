"""``segscope verify-device``: hold the null device against a real GPU."""

from __future__ import annotations

from pathlib import Path

import click

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(name="verify-device", short_help="Compare what nvFuser prints on a GPU and on the null device.")
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--save", type=_FOLDER, metavar="FOLDER", help="Only run on the GPU, and write the captures to a folder.")
@click.option(
    "--toolchain",
    metavar="NAME",
    help="Toolchain to run in; on a GPU one that may use it.  [default: current, with FOLDER nvfuser-0.2.36]",
)
@click.option(
    "--out",
    "outputs",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a report, by its suffix: .md or .json; may be given several times.",
)
@click.pass_context
def command(
    ctx: click.Context, folder: Path | None, save: Path | None, toolchain: str | None, outputs: tuple[Path, ...]
) -> None:
    """Run definitions, RoPE and softmax on this machine's GPU and on the null device that plays it; compare the dumps.

    Each is run twice on either device, so that what varies on one device is known for that. Where the GPU's machine
    cannot have the null device, as with CUDA 13, do it in two steps: --save FOLDER there, and FOLDER here.

    Exit codes: 0 where all agree, byte by byte or but for numbers, 1 where not, 2 where it could not be found out.
    """
    from segscope.capture.fidelity_runs import on_gpu, saved, verify
    from segscope.capture.fidelity_runs import save as save_captures
    from segscope.capture.toolchain import CURRENT, default_name
    from segscope.render.fidelity import markdown

    if save and (folder or outputs):
        raise click.UsageError("--save only makes captures: leave out FOLDER and --out", ctx)
    for output in outputs:
        if output.suffix not in (".md", ".json"):
            raise click.UsageError(f"cannot write {output}; valid suffixes: .md, .json", ctx)
    problems: list[str] = []
    if folder:
        captures = saved(folder)
    else:
        captures, problems = on_gpu(toolchain or CURRENT, null_device_too=save is None)
        for problem in problems:
            click.echo(f"segscope: error: {problem}", err=True)
    if save:
        save_captures(captures, save)
        click.echo(f"wrote {len(captures)} captures to {save}")
        ctx.exit(2 if problems else 0)
    if not captures:
        ctx.exit(2)
    fidelity = verify(captures, toolchain or (default_name() if folder else CURRENT))
    for comparison in fidelity.comparisons:
        click.echo("  ".join([f"{comparison.outcome:10}", comparison.workload, *(f"({n})" for n in comparison.notes)]))
    click.echo(fidelity.summary)
    for output in outputs:
        text = markdown(fidelity) if output.suffix == ".md" else fidelity.model_dump_json(indent=1) + "\n"
        output.write_text(text, encoding="utf-8")
        click.echo(f"wrote {output}", err=True)
    ctx.exit(1 if not fidelity.agrees else 2 if problems else 0)
