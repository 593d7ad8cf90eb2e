"""A segmented fusion as a graph for Model Explorer: an operation is a node, a group is a layer that opens.

Source of the format: ``GraphCollection``, ``Graph`` and ``GraphNode`` in src/ui/src/components/visualizer/common of
google-ai-edge/model-explorer, which loads such a file as it is. A layer is named by the parts of a node's
``namespace``, which ``/`` separates; ``;`` begins an alternative one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from segscope.model import Expr, Group, SegmentedFusion
from segscope.render import palette, timing, words
from segscope.render.labels import LINE_LIMIT, cut, printable
from segscope.render.selection import select
from segscope.render.view import View

if TYPE_CHECKING:
    from segscope.compare.timing import Overlay

_NAMESPACE: Final = str.maketrans("/;", "__")
"""What means something in a namespace, and what stands for it."""
_TENSOR_NAME: Final = "__tensor_tag"
"""The key under which Model Explorer looks for the name of a tensor."""


def to_model_explorer(fusion: SegmentedFusion, title: str | None = None, view: View | None = None) -> str:
    """Return a graph collection of one graph as JSON; the same model gives the same text.

    Fusion inputs and outputs are nodes outside every layer; expressions on scalars are left out. An expression that is
    in several groups is a node in each. Of ``view``, only which groups it shows and their times count.
    """
    view = view or View()
    chosen = select(fusion, view)
    label = " · ".join(filter(None, [title, str(fusion)]))
    nodes = _Nodes(fusion, [fusion.groups[index] for box in chosen.boxes for index in box])
    graph = {
        "id": f"fusion {fusion.index}",
        "nodes": [*nodes.inputs(), *nodes.operations(), *nodes.outputs()],
        "groupNodeAttributes": {"": {"fusion": label}} | nodes.layers(view.times),
    }
    return json.dumps({"label": cut(label, LINE_LIMIT), "graphs": [graph]}, indent=1, ensure_ascii=False) + "\n"


class _Nodes:
    """Nodes, and which of them gives which value to whom."""

    def __init__(self, fusion: SegmentedFusion, groups: list[Group]) -> None:
        self._fusion = fusion
        self._groups = groups
        self._inputs = {name: f"input {n}" for n, name in enumerate(fusion.inputs)}
        self._made = {
            (group.index, name): (_id(group, expr), str(position))
            for group in groups
            for expr in fusion.exprs_of(group)
            for position, name in enumerate(expr.outputs)
        }
        self._edges: dict[tuple[int, str], list[int]] = {}
        for edge in fusion.edges:
            self._edges.setdefault((edge.target, edge.value), []).append(edge.source)

    def layers(self, times: Overlay | None) -> dict[str, dict[str, str]]:
        return {_layer(group): _facts(self._fusion, group, times) for group in self._groups}

    def inputs(self) -> Iterator[dict[str, Any]]:
        for name, node in self._inputs.items():
            yield _node(node, f"fusion input {name}") | {"outputsMetadata": [_tensor(self._fusion, "0", name)]}

    def operations(self) -> Iterator[dict[str, Any]]:
        for group in self._groups:
            kernel = self._fusion.launches_kernel(group)
            style = palette.kernel_style(group.scheduler) if kernel else palette.metadata_style(group.scheduler)
            for expr in self._fusion.exprs_of(group):
                if not expr.is_scalar:
                    yield self._operation(group, expr, style)

    def outputs(self) -> Iterator[dict[str, Any]]:
        for position, name in enumerate(self._fusion.outputs):
            edges = [edge for group in self._groups if name in group.outputs for edge in self._sources(group, [name])]
            node = _node(f"output {position}", f"fusion output {name}")
            yield node | {"incomingEdges": edges, "inputsMetadata": [_tensor(self._fusion, "0", name)]}

    def _operation(self, group: Group, expr: Expr, style: palette.Style) -> dict[str, Any]:
        attributes = {
            "group": group.label,
            "scheduler": group.scheduler,
            "launches a kernel": "yes" if self._fusion.launches_kernel(group) else "no",
            "expression": str(expr.id),
            "statement": expr.text,
        }
        return _node(_id(group, expr), expr.operation, _layer(group)) | {
            "attrs": [{"key": key, "value": value} for key, value in attributes.items()],
            "incomingEdges": list(self._sources(group, expr.tensor_inputs)),
            "inputsMetadata": [_tensor(self._fusion, str(n), name) for n, name in enumerate(expr.tensor_inputs)],
            "outputsMetadata": [_tensor(self._fusion, str(n), name) for n, name in enumerate(expr.outputs)],
            "style": {"backgroundColor": style.fill, "borderColor": style.border},
        }

    def _sources(self, group: Group, names: Iterable[str]) -> Iterator[dict[str, str]]:
        for position, name in enumerate(names):
            within = self._made.get((group.index, name))
            across = [self._made.get((source, name)) for source in self._edges.get((group.index, name), [])]
            found = [within] if within else [made for made in across if made]
            if not found and name in self._inputs:
                found = [(self._inputs[name], "0")]
            for node, output in found:
                yield {"sourceNodeId": node, "sourceNodeOutputId": output, "targetNodeInputId": str(position)}


def _node(name: str, label: str, namespace: str = "") -> dict[str, Any]:
    return {"id": name, "label": cut(printable(label), LINE_LIMIT), "namespace": namespace}


def _id(group: Group, expr: Expr) -> str:
    return f"{group.index}.{expr.id}"


def _layer(group: Group) -> str:
    """Return a name of plain letters: Model Explorer's own font has no middle dot."""
    return cut(printable(f"{group.label} {group.scheduler}"), LINE_LIMIT).translate(_NAMESPACE)


def _facts(fusion: SegmentedFusion, group: Group, times: Overlay | None) -> dict[str, str]:
    measured = [*timing.time(fusion, group, times), *timing.launches(group, times)]
    return {
        **({"time": words.SEPARATOR.join(measured)} if measured else {}),
        "scheduler": group.scheduler,
        "launches a kernel": "yes" if fusion.launches_kernel(group) else "no",
        "operations": words.SEPARATOR.join(words.operations(fusion, group)),
        "expressions": words.expressions(fusion, group),
        "reads": "\n".join(words.tensor(fusion, name) for name in group.inputs),
        "writes": "\n".join(words.tensor(fusion, name) for name in group.outputs),
    }


def _tensor(fusion: SegmentedFusion, position: str, name: str) -> dict[str, Any]:
    attributes = {_TENSOR_NAME: name}
    if (known := fusion.tensors.get(name)) is not None:
        attributes["shape"] = "[" + ", ".join("?" if n is None else str(n) for n in known.shape) + "]"
        if known.dtype:
            attributes["dtype"] = known.dtype
        if known.stored_bytes is not None:
            attributes["memory"] = words.size(known.stored_bytes)
    return {"id": position, "attrs": [{"key": key, "value": value} for key, value in attributes.items()]}
