"""Captures and fusions as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from segscope.model import Capture, Group, SegmentedFusion
from segscope.render import palette, words
from segscope.render.labels import printable


def captures_table(captures: Sequence[Capture]) -> Table:
    """Return a row for each fusion: groups, kernel groups, edges, groups by scheduler.

    Of several captures, the first column says which capture it is.
    """
    table = _table()
    if several := len(captures) > 1:
        table.add_column("capture", overflow="fold")
    table.add_column("fusion", justify="right")
    table.add_column("groups", justify="right")
    table.add_column("kernel groups", justify="right")
    table.add_column("edges", justify="right")
    table.add_column("groups by scheduler", overflow="fold")
    for capture in captures:
        name = [_text(words.capture_name(capture))] if several else []
        for fusion in capture.fusions:
            table.add_row(*name, *_fusion_cells(fusion))
    return table


def fusion_table(fusion: SegmentedFusion) -> Table:
    """Return a row for each group: scheduler, whether it is a kernel group, operations, inputs, outputs."""
    table = _table()
    table.add_column("group", no_wrap=True)
    table.add_column("scheduler", no_wrap=True)
    table.add_column("kernel", no_wrap=True)
    table.add_column("operations", ratio=3, overflow="fold")
    table.add_column("inputs", ratio=1, overflow="fold")
    table.add_column("outputs", ratio=1, overflow="fold")
    for group in fusion.groups:
        table.add_row(
            group.label,
            _scheduler(fusion, group),
            "yes" if fusion.launches_kernel(group) else "-",
            _text(words.SEPARATOR.join(words.operations(fusion, group))),
            _text(" ".join(group.inputs)),
            _text(" ".join(group.outputs)),
        )
    return table


def fusion_tree(fusion: SegmentedFusion) -> Tree:
    """Return the groups, each with its expressions: ``T12 = slice T8``, and what is known of what they make.

    Expressions on scalars (extents, indices) are counted.
    """
    tree = Tree(_text(f"fusion {fusion.index}"), guide_style="dim")
    for group in fusion.groups:
        kernel = fusion.launches_kernel(group)
        heading = Text.assemble(
            f"{group.label} ", _scheduler(fusion, group), f"{words.SEPARATOR}{words.traffic(fusion, group)}"
        )
        branch = tree.add(heading, style="" if kernel else "dim")
        exprs = fusion.exprs_of(group)
        for expr in exprs:
            if not expr.is_scalar:
                made = ", ".join(expr.tensor_outputs)
                said = f"{made} = {words.operation_detail(expr)} {' '.join(expr.tensor_inputs)}".rstrip()
                facts = " ".join(words.tensor_facts(fusion, expr.tensor_outputs[0]))
                branch.add(Text.assemble(printable(said), (f"  {printable(facts)}" if facts else "", "dim")))
        if scalars := sum(expr.is_scalar for expr in exprs):
            branch.add(Text(words.count(scalars, "scalar expression"), style="dim"))
    return tree


def plain(table: RenderableType, width: int) -> list[str]:
    """Return the lines of what a terminal would show, without colours; in a notebook too, where rich makes HTML."""
    text = StringIO()
    Console(file=text, width=width, color_system=None, force_terminal=False, force_jupyter=False).print(table)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def _fusion_cells(fusion: SegmentedFusion) -> tuple[str | Text, ...]:
    return (
        str(fusion.index) if fusion.complete else Text(f"{fusion.index} (incomplete)", style="bold"),
        str(len(fusion.groups)),
        Text(str(fusion.count()), style="bold"),
        str(len(fusion.edges)),
        _text(", ".join(f"{n} {name}" for name, n in fusion.schedulers.items())),
    )


def _scheduler(fusion: SegmentedFusion, group: Group) -> Text:
    kernel = fusion.launches_kernel(group)
    style = palette.kernel_style(group.scheduler) if kernel else palette.metadata_style(group.scheduler)
    return Text(printable(group.scheduler), style=f"{style.text} on {style.fill}")


def _text(text: str) -> Text:
    return Text(printable(text))
