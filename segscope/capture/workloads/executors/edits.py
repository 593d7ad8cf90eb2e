"""Small edits of a graph of ATen operations, each of which takes one thing away.

A graph is one that was handed to Inductor: its nodes have ``meta["val"]``. An edited graph computes the same outputs,
up to their dtype, as far as it still has them. What is edited is a copy, whose nodes keep their names.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

from .nodes import (
    CONVERT,
    LOWER,
    aten,
    converts_to,
    dtype_of,
    fixed,
    floats,
    is_pointwise,
    is_upcast,
    is_view,
    output_of,
    readers,
    takes_any_precision,
)


@dataclass(frozen=True)
class Edit:
    """An edit that a graph has something for."""

    name: str
    what: str
    """What a graph so edited is, to be read after "the graph"."""
    nodes: tuple[str, ...]
    """Names of the nodes of the given graph that it would touch."""


@dataclass
class Work:
    """A graph that is being edited."""

    graph: Graph
    saved: set[int]
    """Positions of the outputs that are only saved for backward."""

    @property
    def outputs(self) -> list[Any]:
        """What the graph returns."""
        return list(output_of(self.graph).args[0])

    @outputs.setter
    def outputs(self, outputs: list[Any]) -> None:
        output_of(self.graph).args = (tuple(outputs),)


ADDS = "save-upcasts"
"""The edit that does not take away, but adds what another executor's graph may have."""

Rewrite = Callable[[Work], list[str]]
"""Edits a graph in place, and returns the names of the nodes that it touched."""


def applicable(graph: GraphModule, saved: Sequence[int]) -> list[Edit]:
    """Return the edits that a graph has something for.

    ``saved`` are the positions of the outputs that are only saved for backward. There are no edits for a graph that
    writes to its inputs or depends on how a tensor is stored, since an edit may give a value other strides.
    """
    return [
        Edit(name, what, tuple(nodes))
        for name, what, rewrite in offered(graph, saved)
        if (nodes := rewrite(Work(copied(graph), set(saved))))
    ]


def apply(graph: GraphModule, names: Sequence[str], saved: Sequence[int]) -> tuple[GraphModule, tuple[int, ...]]:
    """Return a copy of a graph with the named edits, one on top of the other, and the positions that are then saved.

    Raises ValueError for an edit that the graph has nothing for.
    """
    module = GraphModule(graph, copied(graph))
    for name in names:
        work = Work(module.graph, set(saved))
        rewrites = {other: rewrite for other, _, rewrite in offered(module, saved)}
        if name not in rewrites or not rewrites[name](work):
            raise ValueError(f"the graph has nothing for the edit {name}")
        saved = sorted(work.saved)
        finish(module)
    return module, tuple(saved)


def offered(module: GraphModule, saved: Sequence[int]) -> Iterator[tuple[str, str, Rewrite]]:
    """Yield all edits by name, with what they say and do."""
    if any(map(fixed, module.graph.nodes)):
        return
    only_saved = only_saved_of(Work(module.graph, set(saved)))
    yield "nothing-saved", "without the outputs that are only saved for backward", save_only
    if len(only_saved) > 1:
        for kept in only_saved:
            what = f"with only {kept} of the outputs that are only saved for backward"
            yield f"save-only:{kept}", what, partial(save_only, kept=kept)
    yield "no-empty-cat", "without the operands of cat that have no elements", drop_empty_operands
    yield "no-float32", "with its math in the precision of its inputs instead of float32", lower_math
    yield "split-as-slices", "with each split written as slices", slice_splits
    yield "no-expand", "without the expands that pointwise math does by itself", drop_expands
    yield "no-sharing", "with converted inputs computed anew for each operation that uses them", repeat_shared
    yield ADDS, "with the float32 up-casts that several operations use as further outputs", save_upcasts


def save_only(work: Work, kept: str | None = None) -> list[str]:
    """Drop the outputs that are only saved for backward, all or all but one."""
    dropped = [name for name in only_saved_of(work) if name != kept]
    positions = [place for place, node in enumerate(work.outputs) if getattr(node, "name", None) not in dropped]
    work.outputs = [work.outputs[place] for place in positions]
    work.saved = {new for new, old in enumerate(positions) if old in work.saved}
    return dropped


def save_upcasts(work: Work) -> list[str]:
    """Append the up-casts that several operations use to the outputs."""
    outputs = work.outputs
    shared = [node for node in work.graph.nodes if is_upcast(node) and len(readers(node)) > 1 and node not in outputs]
    work.outputs = outputs + shared
    work.saved |= set(range(len(outputs), len(outputs) + len(shared)))
    return [node.name for node in shared]


def drop_empty_operands(work: Work) -> list[str]:
    """Drop what a cat joins if it has no elements and does not decide the dtype of the result."""
    touched = []
    for cat in work.graph.find_nodes(op="call_function", target=aten.cat.default):
        operands = [operand for operand in cat.args[0] if operand.meta["val"].numel()]
        if len(operands) == len(cat.args[0]) or dtype_of(cat) not in map(dtype_of, operands):
            continue
        touched.append(cat.name)
        if len(operands) == 1:
            cat.replace_all_uses_with(operands[0])
        else:
            cat.update_arg(0, operands)
    return touched


def lower_math(work: Work) -> list[str]:
    """Drop the float32 converts around math that could do without.

    That is pointwise math and what moves elements, as long as all that it reads was converted from the same precision.
    Other operations get float32 as before.
    """
    lowered: dict[Node, Any] = {}
    takers = {output_of(work.graph)}
    dropped = []
    for node in work.graph.nodes:
        sources = {lowered.get(source, dtype) for source in node.all_input_nodes for dtype in floats(source)}
        if len(sources) != 1 or not sources <= set(LOWER) or not takes_any_precision(node):
            continue
        takers.add(node)
        if floats(node) == {torch.float32}:
            lowered[node] = next(iter(sources))
        if converts_to(node) is torch.float32 or (converts_to(node) in sources and node.args[0] in lowered):
            dropped.append(node)
    for node in [node for node in dropped if is_upcast(node) and takers.isdisjoint(node.users)]:
        dropped.remove(node)
        lowered.pop(node)
    for node in [node for node in lowered if node not in dropped]:
        if others := [reader for reader in node.users if reader not in takers]:
            with work.graph.inserting_after(node):
                upcast = work.graph.call_function(CONVERT, (node, torch.float32))
            for reader in others:
                reader.replace_input_with(node, upcast)
    for node in dropped:
        for reader in [reader for reader in node.users if reader in takers or node not in lowered]:
            reader.replace_input_with(node, node.args[0])
    return [node.name for node in dropped]


def slice_splits(work: Work) -> list[str]:
    """Write each part of a split as a slice."""
    touched = []
    for split in list(work.graph.nodes):
        if split.target not in (aten.split_with_sizes.default, aten.split.Tensor):
            continue
        touched.append(split.name)
        dim = split.args[2] if len(split.args) > 2 else split.kwargs.get("dim", 0)
        ends = [0]
        for part in split.meta["val"]:
            ends.append(ends[-1] + part.shape[dim])
        for part in list(split.users):
            start, end = ends[part.args[1]], ends[part.args[1] + 1]
            with work.graph.inserting_before(part):
                part.replace_all_uses_with(
                    work.graph.call_function(aten.slice.Tensor, (split.args[0], dim, start, end))
                )
    return touched


def drop_expands(work: Work) -> list[str]:
    """Drop the expands whose result only goes into pointwise math that broadcasts to the same shapes without."""
    values = {node: node.meta.get("val") for node in work.graph.nodes}
    shapes = {node: tuple(value.shape) for node, value in values.items() if isinstance(value, torch.Tensor)}
    touched: list[str] = []
    for expand in reversed(work.graph.find_nodes(op="call_function", target=aten.expand.default)):
        narrowed = {expand: shapes[expand.args[0]]}
        if narrowed[expand] and all(absorbed(node, narrowed, shapes) for node in work.graph.nodes):
            touched.insert(0, expand.name)
            shapes |= narrowed
            expand.replace_all_uses_with(expand.args[0])
            work.graph.erase_node(expand)
    return touched


def absorbed(node: Node, narrowed: dict[Node, tuple[int, ...]], shapes: dict[Node, tuple[int, ...]]) -> bool:
    """Say whether a node can read what is narrowed; note if its result is then narrowed too."""
    if narrowed.keys().isdisjoint(node.all_input_nodes):
        return True
    if not is_pointwise(node):
        return False
    read = [narrowed.get(source, shapes[source]) for source in node.all_input_nodes if source in shapes]
    shape = tuple(torch.broadcast_shapes(*read))
    if shape != shapes[node]:
        narrowed[node] = shape
    return True


def repeat_shared(work: Work) -> list[str]:
    """Undo common-subexpression elimination of the converts of inputs: give each operation but the first its own.

    An output keeps the first.
    """
    links: dict[Node, bool] = {}  # views and converts of one input; whether there is a convert among them
    touched = []

    def repeated(link: Node) -> Node:
        (source,) = link.all_input_nodes
        start = repeated(source) if source in links else source
        new = work.graph.node_copy(link, lambda _: start)
        links[new] = links[link]
        return new

    for node in list(work.graph.nodes):
        sources = node.all_input_nodes
        if len(sources) != 1 or not (converts_to(node) or is_view(node)):
            continue
        if sources[0].op == "placeholder" or sources[0] in links:
            links[node] = converts_to(node) is not None or links.get(sources[0], False)
            others = readers(node)[1:] if links[node] else []
            touched += [node.name] if others else []
            for reader in others:
                with work.graph.inserting_before(reader):
                    reader.replace_input_with(node, repeated(node))
    return touched


def copied(module: GraphModule) -> Graph:
    """Return a copy of a module's graph."""
    graph = Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    return graph


def finish(module: GraphModule) -> None:
    """Drop what an edit left without use, and bring a graph's code and ``meta["val"]`` up to date."""
    module.graph.eliminate_dead_code()
    for view in module.graph.find_nodes(op="call_function", target=aten.view.default):
        view.target = aten.reshape.default  # the strides may be others now
    module.graph.lint()
    module.recompile()
    inputs = [node.meta["val"] for node in module.graph.nodes if node.op == "placeholder"]
    mode = next((val.fake_mode for val in inputs if isinstance(val, FakeTensor)), None) or FakeTensorMode()
    FakeTensorProp(module, mode).propagate_dont_convert_inputs(*inputs)


def only_saved_of(work: Work) -> list[str]:
    """Return the names of what is computed only to be saved for backward."""
    outputs = work.outputs
    returned = {node for place, node in enumerate(outputs) if place not in work.saved}
    saved = [outputs[place] for place in sorted(work.saved)]
    computed = [node for node in saved if isinstance(node, Node) and node.op != "placeholder"]
    return list(dict.fromkeys(node.name for node in computed if node not in returned))
