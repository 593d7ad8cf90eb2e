"""Cuts on the group level: an arrow from box to box, with what crosses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from segscope.model import SegmentedFusion
from segscope.render import palette, words
from segscope.render.beside import side_cuts
from segscope.render.labels import label, tooltip
from segscope.render.marks import Marks, names
from segscope.render.selection import Box, Selection
from segscope.render.sheet import LARGE, node_of, weight, width

if TYPE_CHECKING:
    from graphviz import Digraph

    from segscope.checks import Finding

CUT_TENSORS: Final = 4
"""Lines of a label."""
SPREAD: Final = 8
"""Boxes that read a value so that it is named beside each of them, without arrows across the picture."""

_LABEL: Final = {
    "shape": "box",
    "style": "filled",
    "fillcolor": palette.BACKGROUND,
    "penwidth": "0",
    "margin": "0.04,0.02",
    "height": "0",
    "width": "0",
    "fontsize": "11",
}

Crossing = dict[tuple[Box, Box], dict[str, list["Finding"]]]
"""The values that cross from one box to another, each with the findings on it there."""


def draw_cuts(
    graph: Digraph, fusion: SegmentedFusion, selection: Selection, marks: Marks, outputs: Iterable[tuple[str, Box]]
) -> None:
    """Add the cuts between boxes that are drawn; ``outputs`` are the fusion outputs with the boxes that write them."""
    crossing = _spread(graph, fusion, _crossing(fusion, selection, marks))
    beside = _beside(fusion, selection.boxes, crossing, outputs)
    for (source, target), values in crossing.items():
        findings = [finding for found in values.values() for finding in found]
        tensors = [words.tensor(fusion, name) for name in values]
        shown = tensors if len(tensors) <= CUT_TENSORS else tensors[: CUT_TENSORS - 1]
        lines = shown if len(shown) == len(tensors) else [*shown, f"+ {len(tensors) - len(shown)} more"]
        text = label([*names(findings), *lines])
        whole = tooltip(
            "\n".join([*map(str, findings), f"{_named(fusion, source)} to {_named(fusion, target)}", *tensors])
        )
        stored = words.stored_bytes(fusion, tuple(values))
        colour = palette.FINDING_LINE if findings else palette.TEXT
        line = {"color": _line_colour(findings), "penwidth": width(stored), "edgetooltip": whole}
        if (source, target) in beside:
            said = {"fontcolor": colour, "labeltooltip": whole}
            graph.edge(node_of(source), node_of(target), text, weight="0", constraint="false", **line, **said)
            continue
        line["weight"] = weight(stored)
        if len(selection.boxes) > LARGE:
            graph.edge(node_of(source), node_of(target), **line)
            continue
        node = f"cut_{source[0]}_{target[0]}"
        graph.node(node, text, tooltip=whole, fontcolor=colour, **_LABEL)
        graph.edge(node_of(source), node, arrowhead="none", **line)
        graph.edge(node, node_of(target), **line)


def _crossing(fusion: SegmentedFusion, selection: Selection, marks: Marks) -> Crossing:
    homes = {index: box for box in selection.boxes for index in box}
    crossing: Crossing = {}
    for cut in fusion.cuts:
        source, target = homes.get(cut.source), homes.get(cut.target)
        if source is not None and target is not None and source != target:
            values = crossing.setdefault((source, target), {})
            for name in cut.values:
                values.setdefault(name, []).extend(marks.cuts.get((cut.source, cut.target, name), ()))
    return crossing


def _spread(graph: Digraph, fusion: SegmentedFusion, crossing: Crossing) -> Crossing:
    """Draw the values that many boxes read, a stub at each end; return what is left."""
    readers: dict[tuple[Box, str], list[Box]] = defaultdict(list)
    for (source, target), values in crossing.items():
        for name in values:
            readers[source, name].append(target)
    many = {key: targets for key, targets in readers.items() if len(targets) >= SPREAD}
    for number, ((source, name), targets) in enumerate(many.items()):
        tensor = words.tensor(fusion, name)
        line = {"penwidth": width(words.stored_bytes(fusion, (name,))), "edgetooltip": tooltip(tensor)}
        stub = f"spread{number}"
        text = [tensor, f"to {words.count(len(targets), 'box')}"]
        whole = tooltip("\n".join([tensor, *(f"to {_named(fusion, target)}" for target in targets)]))
        graph.node(stub, label(text), tooltip=whole, fontcolor=palette.TEXT, **_LABEL)
        graph.edge(node_of(source), stub, color=palette.CUT_LINE, **line)
        for target in targets:
            findings = crossing[source, target][name]
            colour = palette.FINDING_LINE if findings else palette.TEXT
            text = [*names(findings), f"{name} of {_named(fusion, source)}"]
            end = f"{stub}_{node_of(target)}"
            graph.node(
                end, label(text), tooltip=tooltip("\n".join([*map(str, findings), tensor])), fontcolor=colour, **_LABEL
            )
            graph.edge(end, node_of(target), color=_line_colour(findings), **line)
    left = {
        (source, target): {name: found for name, found in values.items() if (source, name) not in many}
        for (source, target), values in crossing.items()
    }
    return {pair: values for pair, values in left.items() if values}


def _beside(
    fusion: SegmentedFusion, boxes: tuple[Box, ...], crossing: Crossing, outputs: Iterable[tuple[str, Box]]
) -> set[tuple[Box, Box]]:
    number = {box: position for position, box in enumerate(boxes)}
    stored = {
        (number[source], number[target]): words.stored_bytes(fusion, tuple(values))
        for (source, target), values in crossing.items()
    }
    written: Counter[int] = Counter()
    for name, box in outputs:
        written[number[box]] += words.stored_bytes(fusion, (name,))
    return {(boxes[a], boxes[b]) for a, b in side_cuts(len(boxes), stored, written)}


def _named(fusion: SegmentedFusion, box: Box) -> str:
    return " ".join(fusion.groups[index].label for index in box)


def _line_colour(findings: list[Finding]) -> str:
    return palette.FINDING_LINE if findings else palette.CUT_LINE
