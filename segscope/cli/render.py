"""``segscope render``: fusions as pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from segscope.cli.options import only_with
from segscope.cli.reading import choose_fusions, read_capture, strict_option, warn
from segscope.render import SUFFIXES

if TYPE_CHECKING:
    from segscope.checks import Finding
    from segscope.compare.timing import Overlay
    from segscope.explain import Rules
    from segscope.model import Capture, SegmentedFusion
    from segscope.render.view import Level, View


class FusionNumber(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """The number of a fusion, or ``all``."""

    name = "fusion"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Return the number; None for ``all``."""
        if value == "all":
            return None
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither the number of a fusion nor all", param, ctx)


@click.command(name="render", short_help="Draw fusions as SVG, PNG, PDF, HTML, Mermaid or DOT.")
@click.argument("file")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="PATH",
    help=f"Where to write; the suffix says the format: {', '.join(SUFFIXES)}. - writes SVG to standard output.",
)
@click.option(
    "--fusion", "number", type=FusionNumber(), metavar="N|all", help="Draw fusion N only, from 0.  [default: all]"
)
@click.option(
    "--level",
    type=click.Choice(["groups", "expressions"]),
    default="groups",
    show_default=True,
    help="One box a group, or each expression inside its group.",
)
@click.option(
    "--focus",
    multiple=True,
    metavar="GROUP",
    help="Draw this group (g3; #3 by position) and those near it; may be repeated.",
)
@click.option("--query", metavar="REGEX", help="Draw the groups in whose label, operations or tensors this is found.")
@click.option(
    "--radius",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="N",
    help="How many cuts away from --focus and --query a group is drawn.",
)
@click.option("--collapse", type=click.Choice(["metadata"]), help="Draw metadata groups as small boxes, some as one.")
@click.option("--findings", "marked", is_flag=True, help="Check the fusion, and mark what breaks a rule.")
@click.option(
    "--timing",
    "timed",
    metavar="TRACE",
    help="Put measured times onto kernel groups: of torch.profiler, nvFuser's profiler (JSON) or Nsight (CSV).",
)
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
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    output: str,
    number: int | None,
    level: Level,
    focus: tuple[str, ...],
    query: str | None,
    radius: int,
    collapse: str | None,
    marked: bool,
    timed: str | None,
    grouping: str,
    rules: Rules | None,
    strict: bool,
) -> None:
    """Draw the segmented fusions in FILE: groups as boxes, what crosses between them as arrows.

    FILE is a dump or a capture.json; - is standard input. Of several fusions, fusion 1 goes to NAME-1.svg, and so on;
    those without what --focus or --query names are left out. Above 300 nodes, --level expressions draws groups only.
    A kernel in TRACE is of the group that its name and arguments fit; of several fusions with one, --fusion chooses.
    """
    from segscope.render import format_of
    from segscope.render.selection import group_index
    from segscope.render.view import View

    if output != "-":
        form = format_of(output)
        if marked and form in ("mmd", "md", "json"):
            raise click.UsageError(f"--findings marks nothing in .{form}: write .svg, .png, .pdf, .dot or .html")
        if file != "-" and Path(output).exists() and Path(output).samefile(file):
            raise click.UsageError(f"{output} is FILE itself, and would be overwritten")
    only_with(ctx, "--focus or --query", bool(focus) or query is not None, "--radius")
    only_with(ctx, "--grouping proof", grouping == "proof", "--rules")
    if timed and grouping == "proof":
        raise click.UsageError("--timing is of nvFuser's own groups: use it without --grouping proof")
    capture = read_capture(file, strict)
    fusions = choose_fusions(capture, number)
    times = _times(capture, fusions, timed, number) if timed else {}
    title = _title(capture)
    if grouping == "proof":
        title = _title(capture, "the fewest connected kernels, not nvFuser's groups")
        fusions = tuple(_proof(fusion, rules) for fusion in fusions)

    def view_of(fusion: SegmentedFusion) -> View:
        return View(
            level=level,
            focus=tuple(group_index(fusion, label) for label in focus),
            radius=radius,
            query=query,
            collapse=collapse is not None,
            findings=_findings(fusion) if marked else (),
            times=times.get(fusion.index),
        )

    views = _views(fusions, view_of)
    if output == "-":
        _to_stdout(capture, views, title)
    else:
        _to_files(views, Path(output), title, numbered=len(fusions) > 1)


def render_all(capture: Capture, fusions: Sequence[SegmentedFusion], path: Path) -> None:
    """Draw fusions into ``path``, or, where there are several, into ``NAME-N.svg`` each, and print what drew them."""
    from segscope.render.view import View

    _to_files([(fusion, View()) for fusion in fusions], path, _title(capture), numbered=len(fusions) > 1)


def _views(
    fusions: Sequence[SegmentedFusion], view_of: Callable[[SegmentedFusion], View]
) -> list[tuple[SegmentedFusion, View]]:
    """Return the fusions that have what is in focus, with their views; warn of the others, and of another level."""
    from segscope.render.selection import NothingSelected, select

    found: list[tuple[SegmentedFusion, View]] = []
    left_out: list[NothingSelected] = []
    for fusion in fusions:
        try:
            view = view_of(fusion)
            fallback = select(fusion, view).fallback
        except NothingSelected as nothing:
            left_out.append(nothing)
            continue
        if fallback:
            warn(f"fusion {fusion.index}: {fallback}; --focus, --query and --collapse metadata draw less")
        found.append((fusion, view))
    if not found:
        raise left_out[0]
    if len(left_out) == 1:
        warn(f"{left_out[0]}: not drawn")
    elif left_out:
        warn(f"{len(left_out)} of {len(fusions)} fusions have nothing that --focus or --query names: not drawn")
    return found


def _to_files(views: Sequence[tuple[SegmentedFusion, View]], path: Path, title: str | None, *, numbered: bool) -> None:
    from segscope.render import draw

    for fusion, view in views:
        target = path.with_name(f"{path.stem}-{fusion.index}{path.suffix}") if numbered else path
        engine = draw(fusion, target, title, view)
        click.echo(f"wrote {target} (drawn by {engine})")


def _to_stdout(capture: Capture, views: Sequence[tuple[SegmentedFusion, View]], title: str | None) -> None:
    from segscope.render import picture

    fusion = capture.model_copy(update={"fusions": tuple(fusion for fusion, _ in views)}).fusion
    data, engine = picture(fusion, "svg", title, views[0][1])
    click.echo(data, nl=False)
    click.echo(f"drawn by {engine}", err=True)


def _findings(fusion: SegmentedFusion) -> tuple[Finding, ...]:
    from segscope.checks import choose, run_rules
    from segscope.checks.settings import find_severities

    return tuple(run_rules(choose(), fusion, find_severities(Path.cwd())))


def _times(capture: Capture, fusions: Sequence[SegmentedFusion], path: str, number: int | None) -> dict[int, Overlay]:
    """Return measured times by index of the fusion; warn of fusions without any. SegscopeError where none has."""
    from segscope.compare.timing import assign, overlay, read

    measured = read(path)
    assigned = assign(capture.fusions, measured, number)
    timed = [fusion for fusion in fusions if fusion.index in assigned]
    found = {fusion.index: overlay(fusion, assigned.get(fusion.index, measured)) for fusion in timed or fusions[:1]}
    for fusion in fusions:
        if fusion.index not in found and fusion.kernel_groups:
            warn(f"{path}: no kernel of fusion {fusion.index}: it is drawn without times")
    for note in (note for times in found.values() for note in times.notes):
        warn(f"{path}: {note}")
    return found


def _proof(fusion: SegmentedFusion, rules: Rules | None) -> SegmentedFusion:
    from segscope.explain import headroom, rules_of

    chosen = rules or rules_of(fusion)
    return headroom(fusion, [chosen]).bound(chosen, connected=True).proof


def _title(capture: Capture, *more: str) -> str | None:
    from segscope.render.words import SEPARATOR, capture_name

    return SEPARATOR.join([*([capture_name(capture)] if capture.provenance else []), *more]) or None
