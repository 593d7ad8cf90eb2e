"""``segscope rope``: run RoPE, count, draw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from segscope.capture.configs import CONFIGS
from segscope.cli.options import place_options, shape_options

if TYPE_CHECKING:
    from segscope.errors import CaptureError
    from segscope.model import Capture

_WRITTEN = ("dump.txt", "capture.json", "stderr.txt", "segments.svg", "segments-*.svg")


@click.command(name="rope", short_help="Run RoPE through nvFuser; count and draw its segments.")
@click.option(
    "--config",
    default="Llama-2-13b-hf",
    show_default=True,
    help=f"LitGPT model whose RoPE to run: {', '.join(CONFIGS)}.",
)
@click.option(
    "--toolchain",
    "toolchains",
    multiple=True,
    metavar="NAME",
    help="Toolchain to run it in (see segscope toolchain list), installed if need be; several are shown side by side."
    "  [default: nvfuser-0.2.36]",
)
@place_options
@shape_options
@click.option("--direction", default="forward", show_default=True, help="forward, backward or both.")
@click.option(
    "--no-bookend",
    is_flag=True,
    help="Do not let Thunder (up to 0.2.4) keep metadata operations at the ends to itself.",
)
@click.option(
    "--disable",
    multiple=True,
    metavar="OPTION",
    help="Add to NVFUSER_DISABLE, such as resize_scheduler; may be repeated.",
)
@click.option("--enable", multiple=True, metavar="OPTION", help="Add to NVFUSER_ENABLE; may be repeated.")
@click.option(
    "--out", type=click.Path(path_type=Path), default="segscope-out", show_default=True, help="Folder to write to."
)
def command(
    config: str,
    toolchains: tuple[str, ...],
    device: str,
    card: str,
    batch: int,
    sequence_length: int | None,
    dtype: str,
    direction: str,
    no_bookend: bool,
    disable: tuple[str, ...],
    enable: tuple[str, ...],
    timeout: float,
    out: Path,
) -> None:
    """Run a model's rotary position embedding through Thunder and nvFuser, and show how it was cut into kernels.

    Needs no GPU. Writes dump.txt, capture.json and segments.svg to the folder --out, for several toolchains to a
    folder in it for each.
    """
    from segscope.capture.rope import capture_rope
    from segscope.capture.toolchain import default_name, state
    from segscope.cli.writing import made
    from segscope.errors import CaptureError, SegscopeError

    names = tuple(dict.fromkeys(toolchains)) or (default_name(),)
    for name in names:
        state(name)
    captures: list[Capture] = []
    problem: SegscopeError | None = None
    for name in names:
        folder = made(out / name if len(names) > 1 else out)
        try:
            capture = capture_rope(
                config,
                toolchain=name,
                device=device,
                card=card,
                batch=batch,
                sequence_length=sequence_length,
                dtype=dtype,
                direction=direction,
                bookend=not no_bookend,
                disable=disable,
                enable=enable,
                timeout=timeout,
            )
            captures.append(capture)
            _write(capture, folder)
        except SegscopeError as error:
            if isinstance(error, CaptureError) and (error.output or error.stderr):
                _keep_output(error, folder)
            if problem is not None:
                click.echo(f"segscope: error: {problem}", err=True)
            problem = error
    if captures:
        _show(captures)
    if problem is not None:
        raise problem


def _show(captures: list[Capture]) -> None:
    from segscope.cli.reading import warn_about
    from segscope.cli.writing import console
    from segscope.render.table import captures_table

    for capture in captures:
        warn_about(capture)
    console().print(captures_table(captures))


def _write(capture: Capture, folder: Path) -> None:
    from segscope.cli.render import render_all
    from segscope.cli.writing import made

    made(folder, without=_WRITTEN)
    (folder / "dump.txt").write_text(capture.dump or "", encoding="utf-8")
    (folder / "capture.json").write_text(capture.model_dump_json(indent=1) + "\n", encoding="utf-8")
    click.echo(f"wrote {folder / 'dump.txt'}, {folder / 'capture.json'}")
    render_all(capture, capture.fusions, folder / "segments.svg")


def _keep_output(error: CaptureError, folder: Path) -> None:
    from segscope.cli.writing import made

    made(folder, without=_WRITTEN)
    (folder / "dump.txt").write_text(error.output, encoding="utf-8")
    (folder / "stderr.txt").write_text(error.stderr, encoding="utf-8")
    click.echo(f"segscope: what the child process printed is in {folder}: dump.txt and stderr.txt", err=True)
