"""``segscope capture``: run any command and keep what nvFuser prints."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from segscope.cli.options import CARD, only_with


@click.command(
    name="capture",
    short_help="Run a command of yours and keep what nvFuser prints.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write to.")
@click.option(
    "--device",
    default="none",
    show_default=True,
    help="none: run it as it is; null: put the null device under it; cuda: insist on a GPU.",
)
@click.option("--card", default="h200", show_default=True, help=CARD)
@click.option(
    "--dump",
    default="",
    metavar="OPTIONS",
    help="What to dump besides segmented_fusion, such as segmenter_logging; commas between several.",
)
@click.argument("arguments", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, out: Path, device: str, card: str, dump: str, arguments: tuple[str, ...]) -> int:
    """Run COMMAND with NVFUSER_DUMP=segmented_fusion, in your own environment.

    Its output passes through as it comes, and what it prints on standard output goes to the file too; the exit code is
    the command's. NVFUSER_DUMP keeps what is set. For --device null the command must be a Python, or a script whose
    first line names one, such as pytest.
    """
    from segscope.capture.command import capture_command, summary
    from segscope.capture.options import words

    only_with(ctx, "--device null", device == "null", "--card")
    if str(out) == "-":
        raise click.UsageError("-o names a file; what the command prints goes to standard output as well", ctx)
    code = capture_command(arguments, dump=words(dump), device=device, card=card, out=out)
    print(f"segscope: {summary(out)}", file=sys.stderr)
    return code
