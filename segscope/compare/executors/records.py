"""From what a toolchain's child recorded (``capture/workloads/executors``) to the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from segscope.compare.executors.model import Direction, Pass, Trace, TracedOperation
from segscope.compare.executors.region import Buffer, Kernel, Node, Region, WhyNotFused
from segscope.compare.executors.words import QUIET, is_view, kind
from segscope.explain import explain
from segscope.explain.tried import in_words
from segscope.graph import successors, topological_order
from segscope.model import Capture, Expr, Group, SegmentedFusion
from segscope.model.traffic import bytes_read

Record = Mapping[str, Any]


def read_pass(direction: Direction, record: Record, capture: Capture | None, launches: Sequence[str]) -> Pass:
    """Return the models of one direction's record; ``capture`` is what nvFuser printed meanwhile."""
    traces = tuple(Trace.model_validate(trace) for trace in record["traces"])
    results = len(record["outputs"])
    regions = (
        _thunder_regions(traces[-1], record, capture.fusions if capture else ())
        if traces
        else _dynamo_regions(record, results)
    )
    return Pass(
        direction=direction,
        regions=tuple(regions),
        launches=tuple(launches),
        traces=traces,
        capture=capture,
        inputs=record["inputs"],
        outputs=record["outputs"],
        least_bytes=record["least_bytes"],
    )


def _dynamo_regions(record: Record, results: int) -> Iterable[Region]:
    """Return what torch.compile handed to Inductor; of a single graph the first outputs are the workload's results."""
    graphs = record["graphs"]
    for number, graph in enumerate(graphs):
        count = len(graph["outputs"])
        known = results if len(graphs) == 1 else 0
        outputs = tuple(place if place < known else None for place in range(count))
        reached = [{place} if place < known else set[int]() for place in range(count)]
        saved = () if graph["backward"] or len(graphs) > 1 else tuple(range(known, count))
        yield _inductor_region(f"graph{number}", graph, outputs, saved, reached)


def _thunder_regions(trace: Trace, record: Record, fusions: Sequence[SegmentedFusion]) -> Iterable[Region]:
    """Return the regions of a final trace with what their compilers, which met them in this order, made of them."""
    reached = _results_reached(trace)
    graphs, printed = iter(record["graphs"]), iter(fusions)
    for operation in trace.operations:
        if operation.compiler is None:
            continue
        outputs = tuple(trace.outputs.index(name) if name in trace.outputs else None for name in operation.outputs)
        saved = tuple(
            place for place, name in enumerate(operation.outputs) if name in trace.saved and name not in trace.outputs
        )
        reach = [reached.get(name, set()) for name in operation.outputs]
        if operation.compiler == "inductor":
            yield _inductor_region(operation.name, next(graphs, {}), outputs, saved, reach)
        else:
            definition = record["definitions"].get(operation.name, "")
            yield _nvfuser_region(operation.name, next(printed, None), definition, outputs, saved, reach)


def _results_reached(trace: Trace) -> dict[str, set[int]]:
    """Return for each tensor of a trace which results depend on it, by position."""
    reached: dict[str, set[int]] = {}
    for place, name in enumerate(trace.outputs):
        reached.setdefault(name, set()).add(place)
    for operation in reversed(trace.operations):
        results = _union(_reached_by(operation, reached))
        for name in operation.inputs:
            reached.setdefault(name, set()).update(results)
    return reached


def _reached_by(operation: TracedOperation, reached: Mapping[str, set[int]]) -> Iterable[set[int]]:
    return (reached.get(name, set()) for name in operation.outputs)


def _inductor_region(
    name: str,
    graph: Record,
    outputs: tuple[int | None, ...],
    saved: tuple[int, ...],
    reach: Sequence[set[int]],
) -> Region:
    nodes = {node["name"]: Node.model_validate(node) for node in graph.get("nodes", ())}
    reached = _reached_by_nodes(nodes, reach)
    records = graph.get("kernels", ())
    made = {buffer: node for record in records for buffer, node in record["made"].items()}
    kernels = (
        Kernel(
            name=record["name"],
            scheduler="extern" if record["extern"] else "triton",
            operations=record["operations"],
            kinds=_kinds(nodes, record["operations"]),
            work=_work(
                ((kind(nodes[name].operation), reached[name]) for name in record["operations"] if name in nodes),
                _union(reached.get(name, set()) for name in record["made"].values()),
            ),
            reads=tuple(_reads(nodes, record, made)),
            writes=record["writes"],
        )
        for record in records
    )
    return Region(
        name=name,
        compiler="inductor",
        outputs=outputs,
        saved=saved,
        nodes=tuple(nodes.values()),
        kernels=tuple(kernels),
        why_not=tuple(WhyNotFused.model_validate(why) for why in graph.get("why_not", ())),
    )


def _reads(nodes: Mapping[str, Node], record: Record, made: Mapping[str, str]) -> Iterable[Buffer]:
    """Return the buffers that a kernel reads, which are inputs of the graph or made for one of its nodes."""
    views: dict[str, list[str]] = {}
    for node in nodes.values():
        if is_view(node.operation):
            views.setdefault(node.inputs[0], []).append(node.name)
    operations = [nodes[name] for name in record["operations"] if name in nodes]
    read = {source for node in operations if not is_view(node.operation) for source in node.inputs}
    size = {name: node.bytes for name, node in nodes.items()}
    for buffer in record["reads"]:
        touched = bytes_read(made.get(buffer["name"], buffer["name"]), views, size, read)
        yield Buffer(name=buffer["name"], dtype=buffer["dtype"], bytes=touched or buffer["bytes"])


def _kinds(nodes: Mapping[str, Node], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(kind(nodes[name].operation) for name in names if name in nodes))


def _reached_by_nodes(nodes: Mapping[str, Node], reach: Sequence[set[int]]) -> dict[str, set[int]]:
    """Return for each node of a graph, which is in topological order, the results that depend on it."""
    reached: dict[str, set[int]] = {name: set() for name in nodes}
    for node in reversed(list(nodes.values())):
        if node.operation == "output":
            for name, results in zip(node.inputs, reach, strict=False):
                reached.get(name, set()).update(results)
        else:
            for name in node.inputs:
                reached[name] |= reached[node.name]
    return reached


def _work(done: Iterable[tuple[str, set[int]]], reached: set[int]) -> tuple[tuple[str, int], ...]:
    """Return operations by the results that depend on them, of those that what the kernel writes reaches."""
    pairs = {(kind, result) for kind, results in done for result in results & reached}
    telling = {(kind, result) for kind, result in pairs if kind not in QUIET}
    return tuple(sorted(telling or pairs, key=lambda pair: (pair[1], pair[0])))


def _nvfuser_region(
    name: str,
    fusion: SegmentedFusion | None,
    definition: str,
    outputs: tuple[int | None, ...],
    saved: tuple[int, ...],
    reach: Sequence[set[int]],
) -> Region:
    return Region(
        name=name,
        compiler="nvfuser",
        outputs=outputs,
        saved=saved,
        definition=definition,
        segments=None if fusion is None else len(fusion.groups),
        kernels=tuple(_kernels_of(fusion, reach)) if fusion else (),
        why_not=tuple(_rejections(fusion)) if fusion else (),
    )


def _kernels_of(fusion: SegmentedFusion, reach: Sequence[set[int]]) -> Iterable[Kernel]:
    """Yield the kernel groups as kernels; ``reach`` has the results that depend on each output of the fusion."""
    reached: dict[str, set[int]] = {name: set() for name in fusion.tensors}
    reached |= {name: set(results) for name, results in zip(fusion.outputs, reach, strict=False)}
    for expr in _last_first(fusion):
        results = _union(reached[name] for name in expr.tensor_outputs)
        for name in expr.tensor_inputs:
            reached[name] |= results
    for group in fusion.kernel_groups:
        moved = fusion.traffic(group)
        exprs = [expr for expr in fusion.exprs_of(group) if not expr.is_scalar]
        done = ((expr.operation, _union(reached[name] for name in expr.tensor_outputs)) for expr in exprs)
        yield Kernel(
            name=group.label,
            scheduler=group.scheduler,
            operations=_operations(fusion, group),
            kinds=tuple(dict.fromkeys(expr.operation for expr in exprs)),
            work=_work(done, _union(reached[name] for name in group.outputs if name in reached)),
            reads=_buffers(fusion, moved.reads),
            writes=_buffers(fusion, moved.writes),
        )


def _buffers(fusion: SegmentedFusion, sizes: Mapping[str, int | None]) -> tuple[Buffer, ...]:
    return tuple(
        Buffer(name=name, dtype=fusion.tensors[name].dtype or "", bytes=count) for name, count in sizes.items()
    )


def _last_first(fusion: SegmentedFusion) -> list[Expr]:
    """Return the expressions on tensors so that each comes before those that make what it reads."""
    exprs = [expr for expr in fusion.exprs if not expr.is_scalar]
    maker = {name: index for index, expr in enumerate(exprs) for name in expr.tensor_outputs}
    reads = {(maker[name], index) for index, expr in enumerate(exprs) for name in expr.tensor_inputs if name in maker}
    order = topological_order(successors(len(exprs), reads))
    return [exprs[index] for index in reversed(order.nodes)]


def _rejections(fusion: SegmentedFusion) -> Iterable[WhyNotFused]:
    """Return why the kernel groups on both sides of each cut are two."""
    kernels = {group.index for group in fusion.kernel_groups}
    for reason in explain(fusion).reasons:
        if {reason.source, reason.target} <= kernels:
            first, second = fusion.groups[reason.source], fusion.groups[reason.target]
            yield WhyNotFused(
                first=first.label,
                second=second.label,
                first_operations=_operations(fusion, first),
                second_operations=_operations(fusion, second),
                reason=in_words(reason.refusals) if reason.refusals else reason.text,
                times=1,
            )


def _operations(fusion: SegmentedFusion, group: Group) -> tuple[str, ...]:
    return tuple(f"#{expr.id}" for expr in fusion.exprs_of(group) if not expr.is_scalar)


def _union(sets: Iterable[set[int]]) -> set[int]:
    return set().union(*sets)
