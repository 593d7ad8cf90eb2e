"""A segmented fusion as DOT text: the group level here, the expression level in ``expressions.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segscope.model import SegmentedFusion
from segscope.render.cuts import draw_cuts
from segscope.render.marks import Marks
from segscope.render.parts import Parts
from segscope.render.selection import Selection, select
from segscope.render.sheet import (
    boundary_node,
    box_node,
    cycle_steps,
    input_nodes,
    legend,
    node_of,
    output_nodes,
    quiet_edge,
    scheduler_entries,
    sheet,
    tops,
)
from segscope.render.view import View

if TYPE_CHECKING:
    from graphviz import Digraph


def to_dot(fusion: SegmentedFusion, title: str | None = None, view: View | None = None) -> str:
    """Return a fusion as DOT text; the same model and view give the same text. ``title`` goes before the counts.

    The group level has one box a group (kernel groups loud, the others quiet), one arrow a cut, labelled with the
    tensors that cross it and as wide as their bytes, the fusion's inputs and outputs, and a legend. Where the
    expression level would have too many nodes, the group level is drawn, and the title says so. Raises RenderError
    where the view names nothing in this fusion, or its query is wrong.
    """
    return drawing(fusion, title, view)[0]


def drawing(fusion: SegmentedFusion, title: str | None = None, view: View | None = None) -> tuple[str, Parts]:
    """Return what ``to_dot`` does, and what each part of it stands for."""
    view = view or View()
    parts = Parts()
    selection = select(fusion, view)
    marks = Marks(fusion, view.findings, view.times)
    if selection.level == "expressions":
        from segscope.render.expressions import expressions

        return str(expressions(fusion, title, selection, marks, parts).source), parts
    return str(_groups(fusion, title, selection, marks, parts).source), parts


def _groups(fusion: SegmentedFusion, title: str | None, selection: Selection, marks: Marks, parts: Parts) -> Digraph:
    graph = sheet(fusion, title, selection)
    inputs, outputs = input_nodes(fusion, selection.boxes), output_nodes(fusion, selection.boxes)
    legend(graph, scheduler_entries(fusion, selection, marks), tops(fusion, selection.boxes, inputs))
    for node, name in {node: name for (name, _), node in inputs.items()}.items():
        boundary_node(graph, fusion, node, "input", name)
    for box in selection.boxes:
        box_node(graph, fusion, box, selection, marks)
        parts.groups[node_of(box)] = box
    for node, name in {node: name for (name, _), node in outputs.items()}.items():
        boundary_node(graph, fusion, node, "output", name)
    draw_cuts(graph, fusion, selection, marks, outputs, parts)
    cycle_steps(graph, selection, marks)
    for (name, box), node in inputs.items():
        quiet_edge(graph, fusion, node, node_of(box), name)
    for (name, box), node in outputs.items():
        quiet_edge(graph, fusion, node_of(box), node, name)
    return graph
