"""The expression level of a fusion as a graph: every operation a node inside its group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from segscope.model import Cut, Expr, Group, SegmentedFusion
from segscope.render import palette, timing, words
from segscope.render.labels import label, tooltip
from segscope.render.marks import Marks, names
from segscope.render.parts import DrawnCuts, Parts
from segscope.render.selection import Box, Selection
from segscope.render.sheet import (
    Entry,
    boundary_node,
    box_node,
    cycle_steps,
    input_nodes,
    legend,
    node_of,
    outline,
    output_nodes,
    quiet_edge,
    scheduler_entries,
    sheet,
    style_of,
    tops,
    weight,
    width,
)

if TYPE_CHECKING:
    from graphviz import Digraph

    from segscope.checks import Finding

SHOWN_NAMES: Final = 3

_CUT: Final = {"shape": "cylinder", "style": "filled", "fillcolor": palette.BACKGROUND, "color": palette.CUT_LINE}


def expressions(
    fusion: SegmentedFusion, title: str | None, selection: Selection, marks: Marks, parts: Parts
) -> Digraph:
    """Return the expression level: a cluster a group, in it a node for each operation on tensors.

    A tensor that crosses from one group to others is a cylinder between them: it is written to memory and read again.
    Expressions on scalars (extents, indices) are counted in the heading of a group, and its tooltip lists them.
    Collapsed metadata groups are boxes, as on the group level.
    """
    return _Picture(fusion, title, selection, marks, parts).draw()


class _Picture:
    def __init__(
        self, fusion: SegmentedFusion, title: str | None, selection: Selection, marks: Marks, parts: Parts
    ) -> None:
        self.fusion = fusion
        self.parts = parts
        self.selection = selection
        self.marks = marks
        self.graph = sheet(fusion, title, selection)
        self.homes = {index: box for box in selection.boxes for index in box}
        self.makers: dict[tuple[int, str], str] = {}
        """The node that makes a value, by the index of a group and the value's name."""
        self.readers: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        """The nodes that read a value, by the same."""
        self.rest: dict[int, str] = {}
        """The heading or the box of a group, by its index: for what no expression on tensors makes or reads."""

    def draw(self) -> Digraph:
        fusion, boxes = self.fusion, self.selection.boxes
        inputs, outputs = input_nodes(fusion, boxes), output_nodes(fusion, boxes)
        legend(self.graph, self._entries(), tops(fusion, boxes, inputs))
        for node, name in {node: name for (name, _), node in inputs.items()}.items():
            boundary_node(self.graph, fusion, node, "input", name)
        for box in boxes:
            if box in self.selection.closed:
                box_node(self.graph, fusion, box, self.selection, self.marks)
                self.rest |= dict.fromkeys(box, node_of(box))
                self.parts.groups[node_of(box)] = box
            else:
                self._cluster(fusion.groups[box[0]])
        for node, name in {node: name for (name, _), node in outputs.items()}.items():
            boundary_node(self.graph, fusion, node, "output", name)
        self._cuts()
        for (name, box), node in inputs.items():
            for reader in self._all_readers(box, name):
                quiet_edge(self.graph, fusion, node, reader, name, palette.QUIET_TEXT)
        for (name, box), node in outputs.items():
            maker = next(index for index in box if name in fusion.groups[index].outputs)
            quiet_edge(self.graph, fusion, self._maker(maker, name), node, name, palette.QUIET_TEXT)
        cycle_steps(self.graph, self.selection, self.marks)
        return self.graph

    def _cluster(self, group: Group) -> None:
        exprs = self.fusion.exprs_of(group)
        findings = self.marks.groups.get(group.index, [])
        attributes = {"label": "", "margin": "10", **outline(self.fusion, group, findings)}
        with self.graph.subgraph(name=f"cluster_g{group.index}", graph_attr=attributes) as cluster:
            self._heading(cluster, group, findings)
            for expr in exprs:
                if not expr.is_scalar:
                    self._expression(cluster, group, expr)
        for expr in exprs:
            if expr.is_scalar:
                self.makers |= dict.fromkeys(((group.index, name) for name in expr.outputs), node_of((group.index,)))
        self._inside(exprs, group)

    def _heading(self, cluster: Digraph, group: Group, findings: Sequence[Finding]) -> None:
        """Add the heading: a node, as lines would run over a label of the cluster, and no cluster has two borders."""
        fusion = self.fusion
        scalars = [expr for expr in fusion.exprs_of(group) if expr.is_scalar]
        times = self.marks.times
        heading = [words.heading(fusion, group), *names(findings), *timing.time(fusion, group, times)]
        heading.append(words.traffic(fusion, group))
        if scalars:
            heading.append(words.count(len(scalars), "scalar expression"))
        node = node_of((group.index,))
        whole = [*map(str, findings), *heading, *timing.launches(group, times)]
        whole += [f"({expr.id}) {expr.text}" for expr in scalars]
        cluster.node(
            node,
            label(heading),
            tooltip=tooltip("\n".join(whole)),
            **({"peripheries": "2"} if group.index in self.selection.centre else {"shape": "plaintext"}),
            fontsize="16" if fusion.launches_kernel(group) else "12",
            fontcolor=style_of(fusion, group).text,
            margin="0.05,0.03",
            height="0",
            width="0",
        )
        self.rest[group.index] = node
        self.parts.groups |= dict.fromkeys((node, f"cluster_g{group.index}"), (group.index,))

    def _expression(self, cluster: Digraph, group: Group, expr: Expr) -> None:
        fusion = self.fusion
        node = f"e{group.index}_{expr.id}"
        findings = self.marks.exprs.get((group.index, expr.id), [])
        shape = palette.operation_shape(expr.kind)
        attributes = {"shape": shape.shape, "fillcolor": shape.fill, "fontcolor": shape.text}
        attributes |= {"style": "filled", "color": palette.CUT_LINE, "penwidth": "1"}
        if findings:
            attributes |= {"color": palette.FINDING_LINE, "penwidth": "4"}
        if expr.id in self.selection.found.exprs:
            attributes["peripheries"] = "2"
        tensors = [words.tensor(fusion, name) for name in expr.tensor_outputs]
        cluster.node(
            node,
            label([words.operation_detail(expr), _some(expr.tensor_outputs), *names(findings)]),
            tooltip=tooltip("\n".join([*map(str, findings), *tensors, f"({expr.id}) {expr.text}"])),
            fontsize="12",
            margin="0.14,0.06",
            height="0",
            width="0",
            **attributes,
        )
        self.parts.expressions[node] = (group.index, expr.id)
        self.makers |= dict.fromkeys(((group.index, name) for name in expr.outputs), node)
        for name in dict.fromkeys(expr.inputs):
            self.readers[group.index, name].append(node)

    def _inside(self, exprs: Iterable[Expr], group: Group) -> None:
        heading = self.rest[group.index]
        for expr in exprs:
            if expr.is_scalar:
                continue
            node = f"e{group.index}_{expr.id}"
            made_here = [name for name in dict.fromkeys(expr.tensor_inputs) if (group.index, name) in self.makers]
            for name in made_here:
                tip = tooltip(words.tensor(self.fusion, name))
                self.graph.edge(self.makers[group.index, name], node, color=palette.QUIET_TEXT, edgetooltip=tip)
            if not made_here:
                self.graph.edge(heading, node, style="invis")

    def _maker(self, index: int, name: str) -> str:
        return self.makers.get((index, name), self.rest[index])

    def _all_readers(self, box: Box, name: str) -> list[str]:
        found: dict[str, None] = {}
        for index in box:
            if name in self.fusion.groups[index].inputs:
                found |= dict.fromkeys(self.readers.get((index, name)) or [self.rest[index]])
        return list(found)

    def _cuts(self) -> None:
        fusion = self.fusion
        crossing: dict[tuple[int, str], list[Cut]] = {}
        for cut in fusion.cuts:
            source, target = self.homes.get(cut.source), self.homes.get(cut.target)
            if source is not None and target is not None and source != target:
                for name in cut.values:
                    crossing.setdefault((cut.source, name), []).append(cut)
        for number, ((source_index, name), cuts) in enumerate(crossing.items()):
            self._cut(f"cut{number}", source_index, name, cuts)

    def _cut(self, node: str, source: int, name: str, cuts: Sequence[Cut]) -> None:
        fusion, targets = self.fusion, [cut.target for cut in cuts]
        stored = words.stored_bytes(fusion, (name,))
        by_target = {target: self.marks.cuts.get((source, target, name), []) for target in targets}
        findings = [finding for found in by_target.values() for finding in found]
        attributes = _CUT | ({"color": palette.FINDING_LINE, "penwidth": "4"} if findings else {"penwidth": "2"})
        if name in self.selection.found.values:
            attributes["peripheries"] = "2"
        ends = ", ".join(fusion.groups[target].label for target in targets)
        whole = [*map(str, findings), f"{fusion.groups[source].label} to {ends}", words.tensor(fusion, name)]
        tip = tooltip("\n".join(whole))
        self.graph.node(
            node,
            label([name, *words.tensor_facts(fusion, name), *names(findings)]),
            tooltip=tip,
            fontsize="11",
            margin="0.08,0.13",
            height="0",
            width="0",
            **attributes,
        )
        line = {"penwidth": width(stored), "weight": weight(stored), "edgetooltip": tip}
        colours = {bool(found): palette.FINDING_LINE if found else palette.CUT_LINE for found in by_target.values()}
        colour = colours.get(False, palette.FINDING_LINE)
        maker, drawn = self._maker(source, name), DrawnCuts(tuple(cuts), (name,))
        self.graph.edge(maker, node, arrowhead="none", color=colour, **line)
        self.parts.cuts |= dict.fromkeys((node, f"{maker}->{node}"), drawn)
        by_reader: dict[str, list[Cut]] = {}
        for cut in cuts:
            for reader in self.readers.get((cut.target, name)) or [self.rest[cut.target]]:
                by_reader.setdefault(reader, []).append(cut)
        for reader, read in by_reader.items():
            is_found = any(by_target[cut.target] for cut in read)
            self.graph.edge(node, reader, color=palette.FINDING_LINE if is_found else palette.CUT_LINE, **line)
            self.parts.cuts[f"{node}->{reader}"] = DrawnCuts(tuple(read), (name,))

    def _entries(self) -> list[Entry]:
        fusion, entries = self.fusion, scheduler_entries(self.fusion, self.selection, self.marks)
        kinds = {
            expr.kind
            for box in self.selection.boxes
            if box not in self.selection.closed
            for expr in fusion.exprs_of(fusion.groups[box[0]])
        }
        for kind in palette.OPERATIONS:
            if kind in kinds:
                shape = palette.operation_shape(kind)
                style = {"style": "filled", "fillcolor": shape.fill, "fontcolor": shape.text}
                entries.append((kind, {"shape": shape.shape, "width": "0", **style}))
        if any(cut.source in self.homes and cut.target in self.homes for cut in fusion.cuts):
            entries.append(("cut: crosses between groups", {"width": "0", "penwidth": "2", **_CUT}))
        return entries


def _some(values: Sequence[str]) -> str:
    shown = values if len(values) <= SHOWN_NAMES else [*values[: SHOWN_NAMES - 1], f"+ {len(values) - SHOWN_NAMES + 1}"]
    return " ".join(shown)
