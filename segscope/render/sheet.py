"""What the pictures of both levels share: the sheet with title and legend, boxes, fusion inputs and outputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from segscope.model import Group, SegmentedFusion
from segscope.render import palette, timing, words
from segscope.render.labels import LINE_LIMIT, label, tooltip, wrap
from segscope.render.marks import Marks, names
from segscope.render.selection import Box, Selection

if TYPE_CHECKING:
    from graphviz import Digraph

    from segscope.checks import Finding
    from segscope.compare.timing import Overlay

FONT: Final = "Arial"
OPERATIONS_WIDTH: Final = 34
OPERATION_LINES: Final = 4
LARGE: Final = 500
"""Boxes above which cuts have no labels, and the search for the best layout is cut short, so that it ends."""
READERS: Final = 4
"""Groups that read a fusion input so that it is drawn beside each of them, without arrows across the picture."""

Entry = tuple[str, dict[str, str]]
"""A text of the legend, and the attributes of its node."""


def sheet(fusion: SegmentedFusion, title: str | None, selection: Selection) -> Digraph:
    """Return an empty graph with the title, the line of counts, and the notes of the selection."""
    from graphviz import Digraph

    both = " · ".join(filter(None, [title, str(fusion)]))
    heading = [*([both] if len(both) <= LINE_LIMIT or not title else [title, str(fusion)]), *selection.notes]
    large = {}
    if len(selection.boxes) > LARGE:
        heading.append(f"more than {LARGE} boxes: what crosses is in the tooltips of arrows only")
        large = {"nslimit": "0.1", "nslimit1": "0.1"}
    return Digraph(
        name="segmented_fusion",
        graph_attr={
            **titled(heading),
            "rankdir": "TB",
            "ranksep": "0.55",
            "nodesep": "0.35",
            **large,
        },
        node_attr={"shape": "box", "fontname": FONT, "fontsize": "14", "margin": "0.16,0.1"},
        edge_attr={"fontname": FONT, "fontsize": "11", "fontcolor": palette.TEXT},
    )


def titled(heading: Sequence[str]) -> dict[str, str]:
    """Return the attributes of a graph with its heading above it, which is also its tooltip."""
    return {
        "label": label(heading),
        "labelloc": "t",
        "fontname": FONT,
        "fontsize": "18",
        "fontcolor": palette.TEXT,
        "bgcolor": palette.BACKGROUND,
        "pad": "0.3",
        "tooltip": tooltip("\n".join(heading)),
    }


def node_of(box: Box) -> str:
    """Return the name of the node of a box."""
    return f"g{box[0]}"


def box_node(graph: Digraph, fusion: SegmentedFusion, box: Box, selection: Selection, marks: Marks) -> None:
    """Add a box for one group, or for metadata groups that are drawn as one."""
    groups = [fusion.groups[index] for index in box]
    kernel = fusion.launches_kernel(groups[0])
    findings = [finding for index in box for finding in marks.groups.get(index, ())]
    heading = words.heading(fusion, groups[0]) if len(groups) == 1 else _shared_heading(groups)
    operations = words.operations(fusion, *groups)
    lines = wrap(operations, words.SEPARATOR, OPERATIONS_WIDTH)
    if len(lines) > OPERATION_LINES:
        lines[OPERATION_LINES - 1 :] = ["…"]
    times = marks.times
    said = [heading, *names(findings), *timing.time(fusion, groups[0], times), *lines]
    if box not in selection.closed:
        said += [words.traffic(fusion, groups[0]), words.expressions(fusion, groups[0])]
    graph.node(
        node_of(box),
        label(said),
        tooltip=tooltip("\n".join([*(str(f) for f in findings), *(_whole(fusion, group, times) for group in groups)])),
        fontsize="16" if kernel else "12",
        **outline(fusion, groups[0], findings),
        **({"peripheries": "2"} if selection.centre.intersection(box) else {}),
    )


def outline(fusion: SegmentedFusion, group: Group, findings: Sequence[Finding]) -> dict[str, str]:
    """Return the attributes of the box or the cluster of a group."""
    attributes = style_attributes(style_of(fusion, group))
    if findings:
        attributes |= {"color": palette.FINDING_LINE, "penwidth": "4"}
    return attributes


def style_of(fusion: SegmentedFusion, group: Group) -> palette.Style:
    """Return the loud or the quiet style of a group."""
    kernel = fusion.launches_kernel(group)
    return palette.kernel_style(group.scheduler) if kernel else palette.metadata_style(group.scheduler)


def style_attributes(style: palette.Style) -> dict[str, str]:
    """Return a style in Graphviz's words."""
    return {
        "style": f"filled,{style.border_style}",
        "fillcolor": style.fill,
        "color": style.border,
        "fontcolor": style.text,
        "penwidth": f"{style.border_width:g}",
    }


def boundary_node(graph: Digraph, fusion: SegmentedFusion, node: str, side: str, name: str) -> None:
    """Add a fusion input or output."""
    heading = f"fusion {side} {name}"
    facts = words.tensor_facts(fusion, name)
    graph.node(
        node,
        label([heading, " ".join(facts)] if facts else [heading]),
        tooltip=tooltip(" ".join([heading, *facts])),
        style="rounded",
        margin="0.1,0.05",
        height="0",
        fontsize="11",
        color=palette.QUIET_LINE,
        fontcolor=palette.QUIET_TEXT,
    )


def input_nodes(fusion: SegmentedFusion, boxes: Iterable[Box]) -> dict[tuple[str, Box], str]:
    """Return the node of each fusion input, by its name and a box that reads it; few boxes share one node."""
    inputs = {name: f"input{number}" for number, name in enumerate(fusion.inputs)}
    readers: dict[str, list[Box]] = {name: [] for name in inputs}
    for box in boxes:
        for name in dict.fromkeys(name for index in box for name in fusion.groups[index].inputs if name in inputs):
            readers[name].append(box)
    return {
        (name, box): inputs[name] if len(found) < READERS else f"{inputs[name]}_{node_of(box)}"
        for name, found in readers.items()
        for box in found
    }


def output_nodes(fusion: SegmentedFusion, boxes: Iterable[Box]) -> dict[tuple[str, Box], str]:
    """Return the node of each fusion output, by its name and the box that writes it."""
    outputs = {name: f"output{number}" for number, name in enumerate(fusion.outputs)}
    return {
        (name, box): outputs[name]
        for box in boxes
        for name in dict.fromkeys(name for index in box for name in fusion.groups[index].outputs if name in outputs)
    }


def quiet_edge(
    graph: Digraph, fusion: SegmentedFusion, source: str, target: str, name: str, colour: str = palette.QUIET_LINE
) -> None:
    """Add an arrow from a fusion input, or to a fusion output."""
    graph.edge(
        source,
        target,
        color=colour,
        penwidth=width(words.stored_bytes(fusion, (name,))),
        edgetooltip=tooltip(words.tensor(fusion, name)),
    )


def cycle_steps(graph: Digraph, selection: Selection, marks: Marks) -> None:
    """Add the dependencies that no cut carries and that close a cycle, between boxes that are drawn."""
    homes = {index: box for box in selection.boxes for index in box}
    for (source, target), values in marks.steps.items():
        if source in homes and target in homes:
            graph.edge(
                node_of(homes[source]),
                node_of(homes[target]),
                label([" ".join(values)]),
                style="dashed",
                color=palette.FINDING_LINE,
                fontcolor=palette.FINDING_LINE,
                penwidth="2",
                constraint="false",
                edgetooltip=tooltip(" ".join(["needs", *values])),
            )


def width(stored: int) -> str:
    """Line width in points: 1 for nothing, about 5 for 268 MB, never over 8."""
    return f"{min(8, 1 + 0.5 * math.log2(1 + stored / 2**20)):.1f}"


def weight(stored: int) -> str:
    """How much an edge wants to be short and straight."""
    return str(1 + round(math.log2(1 + stored / 2**20)))


def scheduler_entries(fusion: SegmentedFusion, selection: Selection, marks: Marks) -> list[Entry]:
    """Return the legend of the boxes: schedulers, with or without a kernel, then focus and findings."""
    groups = [fusion.groups[index] for box in selection.boxes for index in box]
    kernels = dict.fromkeys(g.scheduler for g in groups if fusion.launches_kernel(g))
    quiet = dict.fromkeys(g.scheduler for g in groups if not fusion.launches_kernel(g))
    entries = [(f"{name}: launches a kernel", style_attributes(palette.kernel_style(name))) for name in kernels]
    entries += [(f"{name}: no kernel, metadata only", style_attributes(palette.metadata_style(name))) for name in quiet]
    if selection.centre:
        entries.append(("in focus", {"peripheries": "2", "color": palette.QUIET_TEXT}))
    if marks:
        entries.append(("a finding", {"color": palette.FINDING_LINE, "penwidth": "4"}))
    return entries


def legend(graph: Digraph, entries: Iterable[Entry], tops: Mapping[str, str]) -> None:
    """Add a strip above everything else: invisible edges to what else may be on top keep it there."""
    with graph.subgraph(graph_attr={"rank": "same"}) as strip:
        strip.node("legend", "legend:", shape="plaintext", width="0", fontsize="12", fontcolor=palette.QUIET_TEXT)
        last = "legend"
        for number, (text, attributes) in enumerate(entries):
            entry = {"fontsize": "12", "margin": "0.1,0.05", "height": "0", **attributes}
            strip.node(f"legend{number}", label([text]), **entry)
            strip.edge(last, f"legend{number}", style="invis")
            last = f"legend{number}"
    for node, weight in tops.items():
        graph.edge("legend", node, style="invis", weight=weight)


def tops(fusion: SegmentedFusion, boxes: Sequence[Box], inputs: Mapping[tuple[str, Box], str]) -> dict[str, str]:
    """Return a node of each fusion input, and that of each box which reads nothing that is drawn, with its weight.

    An edge into a cluster holds nothing in Graphviz if it weighs nothing.
    """
    first: dict[str, str] = {}
    for (name, _), node in inputs.items():
        first.setdefault(name, node)
    homes = {index: box for box in boxes for index in box}
    read = {box for _, box in inputs}
    read |= {homes[target] for source, target, _ in fusion.cuts if target in homes and source in homes}
    return dict.fromkeys(first.values(), "0") | {node_of(box): "1" for box in boxes if box not in read}


def _shared_heading(groups: Sequence[Group]) -> str:
    labels = [group.label for group in groups]
    shown = labels if len(labels) <= 4 else [*labels[:3], f"+ {len(labels) - 3} more"]
    return words.SEPARATOR.join([" ".join(shown), " ".join(dict.fromkeys(group.scheduler for group in groups))])


def _whole(fusion: SegmentedFusion, group: Group, times: Overlay | None) -> str:
    return "\n".join(
        [
            words.heading(fusion, group),
            *timing.time(fusion, group, times),
            *timing.launches(group, times),
            words.SEPARATOR.join(words.operations(fusion, group)),
            words.expressions(fusion, group),
            *(f"reads {words.tensor(fusion, name)}" for name in group.inputs),
            *(f"writes {words.tensor(fusion, name)}" for name in group.outputs),
        ]
    )
