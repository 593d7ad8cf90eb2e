"""Cuts on the group level: an arrow from box to box, with what crosses."""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from segscope.model import Cut, SegmentedFusion
from segscope.render import palette, words
from segscope.render.beside import side_cuts
from segscope.render.labels import LINE_LIMIT, label, printable, tooltip
from segscope.render.labels import cut as shorten
from segscope.render.marks import Marks, names
from segscope.render.parts import DrawnCuts, Parts
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

Carriers = dict[tuple[Box, Box], list[Cut]]
"""The cuts from one box to another."""


def draw_cuts(
    graph: Digraph,
    fusion: SegmentedFusion,
    selection: Selection,
    marks: Marks,
    outputs: Iterable[tuple[str, Box]],
    parts: Parts,
) -> None:
    """Add the cuts between boxes that are drawn; ``outputs`` are the fusion outputs with the boxes that write them.

    ``parts`` is told of all that is drawn.
    """
    carriers = _carriers(fusion, selection)
    crossing = _spread(graph, fusion, _crossing(carriers, marks), carriers, parts)
    beside = _beside(fusion, selection.boxes, crossing, outputs)
    for (source, target), values in crossing.items():
        findings = [finding for found in values.values() for finding in found]
        tensors = [words.tensor(fusion, name) for name in values]
        shown = tensors if len(tensors) <= CUT_TENSORS else tensors[: CUT_TENSORS - 1]
        lines = shown if len(shown) == len(tensors) else [*shown, f"+ {len(tensors) - len(shown)} more"]
        text = [*names(findings), *lines]
        drawn = _drawn(carriers[source, target], values)
        straight = f"{node_of(source)}->{node_of(target)}"
        whole = tooltip(
            "\n".join([*map(str, findings), f"{_named(fusion, source)} to {_named(fusion, target)}", *tensors])
        )
        stored = words.stored_bytes(fusion, tuple(values))
        colour = palette.FINDING_LINE if findings else palette.TEXT
        line = {"color": _line_colour(findings), "penwidth": width(stored), "edgetooltip": whole}
        if (source, target) in beside:
            said = {"fontcolor": colour, "labeltooltip": whole}
            graph.edge(node_of(source), node_of(target), _on_line(text), weight="0", constraint="false", **line, **said)
            parts.cuts[straight] = drawn
            continue
        line["weight"] = weight(stored)
        if len(selection.boxes) > LARGE:
            graph.edge(node_of(source), node_of(target), **line)
            parts.cuts[straight] = drawn
            continue
        node = f"cut_{source[0]}_{target[0]}"
        parts.cuts |= dict.fromkeys((node, f"{node_of(source)}->{node}", f"{node}->{node_of(target)}"), drawn)
        graph.node(node, label(text), tooltip=whole, fontcolor=colour, **_LABEL)
        graph.edge(node_of(source), node, arrowhead="none", **line)
        graph.edge(node, node_of(target), **line)


def _on_line(lines: list[str]) -> str:
    """Return the label of an arrow from side to side: on a ground of its own, as the arrow may run behind it."""
    text = "<BR/>".join(html.escape(shorten(printable(line), LINE_LIMIT)) for line in lines)
    ground = f'BORDER="0" CELLBORDER="0" CELLPADDING="1" CELLSPACING="0" BGCOLOR="{palette.BACKGROUND}"'
    return f"<<TABLE {ground}><TR><TD>{text}</TD></TR></TABLE>>"


def _carriers(fusion: SegmentedFusion, selection: Selection) -> Carriers:
    homes = {index: box for box in selection.boxes for index in box}
    carriers: Carriers = {}
    for cut in fusion.cuts:
        source, target = homes.get(cut.source), homes.get(cut.target)
        if source is not None and target is not None and source != target:
            carriers.setdefault((source, target), []).append(cut)
    return carriers


def _crossing(carriers: Carriers, marks: Marks) -> Crossing:
    crossing: Crossing = {pair: {} for pair in carriers}
    for pair, cuts in carriers.items():
        for cut in cuts:
            for name in cut.values:
                found = marks.cuts.get((cut.source, cut.target, name), ())
                crossing[pair].setdefault(name, []).extend(found)
    return crossing


def _drawn(cuts: Iterable[Cut], values: Iterable[str]) -> DrawnCuts:
    shown = tuple(values)
    return DrawnCuts(tuple(cut for cut in cuts if not set(shown).isdisjoint(cut.values)), shown)


def _spread(graph: Digraph, fusion: SegmentedFusion, crossing: Crossing, carriers: Carriers, parts: Parts) -> Crossing:
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
        from_here = [cut for target in targets for cut in carriers[source, target]]
        parts.cuts |= dict.fromkeys((stub, f"{node_of(source)}->{stub}"), _drawn(from_here, [name]))
        for target in targets:
            findings = crossing[source, target][name]
            colour = palette.FINDING_LINE if findings else palette.TEXT
            text = [*names(findings), f"{name} of {_named(fusion, source)}"]
            end = f"{stub}_{node_of(target)}"
            graph.node(
                end, label(text), tooltip=tooltip("\n".join([*map(str, findings), tensor])), fontcolor=colour, **_LABEL
            )
            graph.edge(end, node_of(target), color=_line_colour(findings), **line)
            drawn = _drawn(carriers[source, target], [name])
            parts.cuts |= dict.fromkeys((end, f"{end}->{node_of(target)}"), drawn)
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
