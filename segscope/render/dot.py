"""A segmented fusion as DOT text, one box a group."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from segscope.model import Cut, Group, SegmentedFusion
from segscope.render import palette, words
from segscope.render.labels import label, tooltip, wrap

if TYPE_CHECKING:
    from graphviz import Digraph

FONT: Final = "Arial"
OPERATIONS_WIDTH: Final = 34
OPERATION_LINES: Final = 4
CUT_TENSORS: Final = 4


def to_dot(fusion: SegmentedFusion, title: str | None = None) -> str:
    """Return the group level of a fusion as DOT text; the same model gives the same text.

    One box a group (kernel groups loud, the others quiet), one arrow a cut, labelled with the tensors that cross it and
    as wide as their bytes, the fusion's inputs and outputs, and a legend. ``title`` goes before the line of counts.
    """
    graph = _graph(" · ".join(filter(None, [title, str(fusion)])))
    inputs = {name: f"input{n}" for n, name in enumerate(fusion.inputs)}
    outputs = {name: f"output{n}" for n, name in enumerate(fusion.outputs)}
    _legend(graph, fusion, inputs.values())
    for name, node in inputs.items():
        _boundary(graph, fusion, node, "input", name)
    for group in fusion.groups:
        _group(graph, fusion, group)
    for name, node in outputs.items():
        _boundary(graph, fusion, node, "output", name)
    for cut in fusion.cuts:
        _cut(graph, fusion, cut)
    for group in fusion.groups:
        for name in dict.fromkeys(group.inputs):
            if name in inputs:
                _quiet_edge(graph, fusion, inputs[name], f"g{group.index}", name)
        for name in dict.fromkeys(group.outputs):
            if name in outputs:
                _quiet_edge(graph, fusion, f"g{group.index}", outputs[name], name)
    return str(graph.source)


def _graph(title: str) -> Digraph:
    from graphviz import Digraph

    return Digraph(
        name="segmented_fusion",
        graph_attr={
            "label": label([title]),
            "labelloc": "t",
            "fontname": FONT,
            "fontsize": "18",
            "fontcolor": palette.TEXT,
            "bgcolor": palette.BACKGROUND,
            "rankdir": "TB",
            "ranksep": "0.55",
            "nodesep": "0.35",
            "pad": "0.3",
            "tooltip": tooltip(title),
        },
        node_attr={"shape": "box", "fontname": FONT, "fontsize": "14", "margin": "0.16,0.1"},
        edge_attr={"fontname": FONT, "fontsize": "11", "fontcolor": palette.TEXT},
    )


def _group(graph: Digraph, fusion: SegmentedFusion, group: Group) -> None:
    kernel = fusion.launches_kernel(group)
    style = palette.kernel_style(group.scheduler) if kernel else palette.metadata_style(group.scheduler)
    operations = words.operations(fusion, group)
    lines = wrap(operations, words.SEPARATOR, OPERATIONS_WIDTH)
    if len(lines) > OPERATION_LINES:
        lines[OPERATION_LINES - 1 :] = ["…"]
    heading = f"{group.label} · {group.scheduler}" + (" · kernel" if kernel else "")
    expressions = words.expressions(fusion, group)
    whole = [
        heading,
        words.SEPARATOR.join(operations),
        expressions,
        *(f"reads {words.tensor(fusion, name)}" for name in group.inputs),
        *(f"writes {words.tensor(fusion, name)}" for name in group.outputs),
    ]
    graph.node(
        f"g{group.index}",
        label([heading, *lines, expressions]),
        tooltip=tooltip("\n".join(whole)),
        fontsize="16" if kernel else "12",
        **_box(style),
    )


def _boundary(graph: Digraph, fusion: SegmentedFusion, node: str, side: str, name: str) -> None:
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


def _cut(graph: Digraph, fusion: SegmentedFusion, cut: Cut) -> None:
    tensors = [words.tensor(fusion, name) for name in cut.values]
    shown = tensors if len(tensors) <= CUT_TENSORS else tensors[: CUT_TENSORS - 1]
    lines = shown if len(shown) == len(tensors) else [*shown, f"+ {len(tensors) - len(shown)} more"]
    stored = words.stored_bytes(fusion, cut.values)
    source, target = (fusion.groups[index].label for index in (cut.source, cut.target))
    whole = tooltip("\n".join([f"{source} to {target}", *tensors]))
    name = f"cut_{cut.source}_{cut.target}"
    line = {"color": palette.CUT_LINE, "penwidth": _width(stored), "weight": _weight(stored), "edgetooltip": whole}
    graph.node(
        name,
        label(lines),
        tooltip=whole,
        shape="box",
        style="filled",
        fillcolor=palette.BACKGROUND,
        penwidth="0",
        margin="0.04,0.02",
        height="0",
        width="0",
        fontsize="11",
        fontcolor=palette.TEXT,
    )
    graph.edge(f"g{cut.source}", name, arrowhead="none", **line)
    graph.edge(name, f"g{cut.target}", **line)


def _quiet_edge(graph: Digraph, fusion: SegmentedFusion, source: str, target: str, name: str) -> None:
    graph.edge(
        source,
        target,
        color=palette.QUIET_LINE,
        penwidth=_width(words.stored_bytes(fusion, (name,))),
        edgetooltip=tooltip(words.tensor(fusion, name)),
    )


def _width(stored: int) -> str:
    """Line width in points: 1 for nothing, about 5 for 256 MiB, never over 8."""
    return f"{min(8, 1 + 0.5 * math.log2(1 + stored / 2**20)):.1f}"


def _weight(stored: int) -> str:
    return str(1 + round(math.log2(1 + stored / 2**20)))


def _legend(graph: Digraph, fusion: SegmentedFusion, below: Iterable[str]) -> None:
    """Add a strip above everything else; the invisible edges keep it there."""
    kernels = dict.fromkeys(g.scheduler for g in fusion.kernel_groups)
    quiet = dict.fromkeys(g.scheduler for g in fusion.groups if not fusion.launches_kernel(g))
    entries = [(f"{name}: launches a kernel", palette.kernel_style(name)) for name in kernels]
    entries += [(f"{name}: no kernel, metadata only", palette.metadata_style(name)) for name in quiet]
    with graph.subgraph(graph_attr={"rank": "same"}) as strip:
        strip.node("legend", "legend:", shape="plaintext", width="0", fontsize="12", fontcolor=palette.QUIET_TEXT)
        last = "legend"
        for number, (text, style) in enumerate(entries):
            strip.node(f"legend{number}", label([text]), fontsize="12", margin="0.1,0.05", height="0", **_box(style))
            strip.edge(last, f"legend{number}", style="invis")
            last = f"legend{number}"
    for node in below:
        graph.edge("legend", node, style="invis", weight="0")


def _box(style: palette.Style) -> dict[str, str]:
    return {
        "style": f"filled,{style.border_style}",
        "fillcolor": style.fill,
        "color": style.border,
        "fontcolor": style.text,
        "penwidth": f"{style.border_width:g}",
    }
