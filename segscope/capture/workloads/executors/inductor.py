"""Records what Inductor was given and what it made of it.

The places that are watched are there from torch 2.3 to 2.11 (torch/_inductor): ``compile_fx.compile_fx``,
``graph.GraphLowering``, ``codegen.triton.TritonScheduling.define_kernel``, ``scheduler.Scheduler.codegen_extern_call``
and ``scheduler.WhyNoFuse``.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._inductor import compile_fx, graph, scheduler
from torch._inductor.codegen import triton
from torch._inductor.utils import aggregate_origins
from torch._inductor.virtualized import V
from torch.utils._pytree import tree_leaves

Record = dict[str, Any]


class Graph:
    """One graph that Inductor compiled."""

    def __init__(self, module: torch.fx.GraphModule, backward: bool) -> None:
        self.module = module
        """As it was handed to Inductor: ATen operations, after AOTAutograd and decompositions."""
        self.backward = backward
        self.nodes: list[Record] = []
        """Of the graph as it was lowered, after Inductor's own passes over it."""
        self.outputs: list[str] = []
        """The buffer that holds each output."""
        self.kernels: list[Record] = []
        self.why_not: Counter[tuple[str, tuple[str, ...], str, tuple[str, ...], str]] = Counter()

    def record(self) -> Record:
        """Return what was recorded, as JSON has it."""
        return {
            "backward": self.backward,
            "nodes": self.nodes,
            "outputs": self.outputs,
            "kernels": self.kernels,
            "why_not": [
                {
                    "first": first,
                    "second": second,
                    "first_operations": first_operations,
                    "second_operations": second_operations,
                    "reason": reason,
                    "times": times,
                }
                for (first, first_operations, second, second_operations, reason), times in self.why_not.items()
            ],
        }


Function = Callable[..., Any]


class Recorder:
    """Collects graphs: its methods wrap the functions of Inductor that make or refuse something."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.refused: dict[int, tuple[Any, Any]] = {}
        """The pair of scheduler nodes of each ``WhyNoFuse``, by its id."""

    def compiling(self, original: Function) -> Function:
        """Keep each graph that Dynamo's calls hand on to be compiled."""

        def compile_graph(
            module: Any, inputs: Any, inner_compile: Function = compile_fx.compile_fx_inner, **options: Any
        ) -> Any:
            if getattr(inner_compile, "records", False):
                return original(module, inputs, inner_compile=inner_compile, **options)

            def inner(module: torch.fx.GraphModule, *inputs: Any, **options: Any) -> Any:
                self.graphs.append(Graph(copy.deepcopy(module), bool(options.get("is_backward"))))
                return inner_compile(module, *inputs, **options)

            inner.records = True  # type: ignore[attr-defined]
            return original(module, inputs, inner_compile=inner, **options)

        return compile_graph

    def lowering(self, original: Function) -> Function:
        """Keep the nodes of the graph that was lowered."""

        def run(lowering: Any, *inputs: Any) -> Any:
            result = original(lowering, *inputs)
            self.graphs[-1].nodes = [node_record(node) for node in lowering.module.graph.nodes]
            return result

        return run

    def generating(self, original: Function) -> Function:
        """Complete the record of a graph once its code is there."""

        def generate(lowering: Any, *arguments: Any, **options: Any) -> Any:
            result = original(lowering, *arguments, **options)
            finish(self.graphs[-1], lowering)
            return result

        return generate

    def defining(self, original: Function) -> Function:
        """Keep each Triton kernel."""

        def define(scheduling: Any, source: str, schedule: Any, *arguments: Any) -> Any:
            name = original(scheduling, source, schedule, *arguments)
            self.graphs[-1].kernels.append(kernel_record(name, schedule))
            return name

        return define

    def calling_extern(self, original: Function) -> Function:
        """Keep each kernel of a library."""

        def call(scheduling: Any, node: Any) -> Any:
            name = getattr(node.node, "python_kernel_name", None) or type(node.node).__name__
            self.graphs[-1].kernels.append(kernel_record(str(name), [node]) | {"extern": True})
            return original(scheduling, node)

        return call

    def remembering(self, original: Function) -> Function:
        """Remember which two nodes a reason will be about."""

        def remember(why: Any, first: Any, second: Any) -> None:
            self.refused[id(why)] = first, second
            original(why, first, second)

        return remember

    def refusing(self, original: Function) -> Function:
        """Count each reason for which two nodes are not one kernel."""

        def refuse(why: Any, reason: str, *arguments: Any) -> Any:
            first, second = self.refused[id(why)]
            said = reason % arguments if arguments else reason
            key = (*names(first), *names(second), said)
            self.graphs[-1].why_not[key] += 1
            return original(why, reason, *arguments)

        return refuse


@contextmanager
def recorded() -> Iterator[list[Graph]]:
    """Yield the graphs that Inductor compiles meanwhile, in that order; its caches must be off."""
    recorder = Recorder()
    places: list[tuple[Any, str, Callable[[Function], Function]]] = [
        (compile_fx, "compile_fx", recorder.compiling),
        (graph.GraphLowering, "run", recorder.lowering),
        (graph.GraphLowering, "codegen", recorder.generating),
        (triton.TritonScheduling, "define_kernel", recorder.defining),
        (scheduler.Scheduler, "codegen_extern_call", recorder.calling_extern),
        (scheduler.WhyNoFuse, "__init__", recorder.remembering),
        (scheduler.WhyNoFuse, "__call__", recorder.refusing),
    ]
    originals = [(place, name, getattr(place, name)) for place, name, _ in places]
    for place, name, wrap in places:
        setattr(place, name, wrap(getattr(place, name)))
    try:
        yield recorder.graphs
    finally:
        for place, name, original in originals:
            setattr(place, name, original)


def names(node: Any) -> tuple[str, tuple[str, ...]]:
    """Return what a scheduler node writes, and the nodes of the graph that it came from."""
    written = sorted(name for part in node.get_nodes() for name in buffers_of(part))
    return "+".join(written), origins([node])


def buffers_of(node: Any) -> list[str]:
    """Return the names of the buffers that a scheduler node writes; up to torch 2.4 the node has the buffer's name."""
    return list(node.get_buffer_names()) if hasattr(node, "get_buffer_names") else [node.get_name()]


def origins(schedule: Iterable[Any]) -> tuple[str, ...]:
    """Return the nodes of the graph that scheduler nodes came from, in the graph's order."""
    nodes = [node for node in aggregate_origins(list(schedule)) if node.op == "call_function"]
    if not nodes:
        return ()
    place = {node: index for index, node in enumerate(nodes[0].graph.nodes)}
    return tuple(node.name for node in sorted(nodes, key=lambda node: place.get(node, -1)))


def kernel_record(name: str, schedule: Iterable[Any]) -> Record:
    """Return a kernel with all that its scheduler nodes read and write; `finish` takes off what stays inside."""
    nodes = [node for node in schedule if getattr(node, "node", None) is not None]
    made = {node.node.get_name(): getattr(node.node, "origin_node", None) for node in nodes}
    return {
        "name": name,
        "operations": origins(nodes),
        "made": {buffer: origin.name for buffer, origin in made.items() if origin is not None},
        "reads": buffers(dependency.name for node in nodes for dependency in node.read_writes.reads),
        "writes": buffers(dependency.name for node in nodes for dependency in node.read_writes.writes),
        "extern": False,
    }


def buffers(names: Iterable[str]) -> list[Record]:
    """Return each buffer once, with the bytes of all its elements."""
    return [
        {
            "name": name,
            "dtype": str(V.graph.get_dtype(name)).removeprefix("torch."),
            "bytes": int(V.graph.sizevars.size_hint(V.graph.get_numel(name), fallback=0))
            * V.graph.get_dtype(name).itemsize,
        }
        for name in dict.fromkeys(names)
    ]


def finish(found: Graph, lowered: Any) -> None:
    """Complete the kernels' records once all are generated.

    What one writes and no other needs is taken off. Up to torch 2.4 Inductor forgets what was inlined into a cat, so
    operations are also sought in the graph: from what a kernel makes back to what some kernel makes.
    """
    found.outputs = list(lowered.get_output_names())
    inputs = {node["name"]: node["inputs"] for node in found.nodes if node["operation"] != "placeholder"}
    place = {name: index for index, name in enumerate(inputs)}
    made = {name for kernel in found.kernels for name in kernel["made"].values()}
    for kernel in found.kernels:
        written = {buffer["name"] for buffer in kernel["writes"]}
        kernel["reads"] = [buffer for buffer in kernel["reads"] if buffer["name"] not in written]
        kernel["writes"] = [buffer for buffer in kernel["writes"] if buffer["name"] not in lowered.removed_buffers]
        operations = set(kernel["operations"])
        left = list(kernel["made"].values())
        while left:
            name = left.pop()
            if name in inputs:
                operations.add(name)
                left += [source for source in inputs[name] if source not in made and source not in operations]
        kernel["operations"] = sorted(operations, key=lambda name: place.get(name, -1))


def tuned(call: Callable[[], object]) -> dict[str, str]:
    """Return the configuration that the autotuner chose for each Triton kernel that a call launches."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    chosen: dict[str, str] = {}
    original = CachingAutotuner.run

    def run(self: Any, *arguments: Any, **options: Any) -> Any:
        result = original(self, *arguments, **options)
        chosen[self.inductor_meta.get("kernel_name") or self.fn.__name__] = str(self.launchers[0].config)
        return result

    CachingAutotuner.run = run
    try:
        call()
    finally:
        CachingAutotuner.run = original
    return chosen


def inputs_of(node: torch.fx.Node) -> list[str]:
    """Return the names of the nodes that a node reads."""
    return [source.name for source in node.all_input_nodes]


def node_record(node: torch.fx.Node) -> Record:
    """Return a node of a graph."""
    value = node.meta.get("val")
    tensor = value if isinstance(value, torch.Tensor) else None
    return {
        "name": node.name,
        "operation": str(node.target) if node.op == "call_function" else node.op,
        "inputs": [str(value) for value in tree_leaves(node.args)] if node.op == "output" else inputs_of(node),
        "arguments": ", ".join([*map(str, node.args), *(f"{name}={value}" for name, value in node.kwargs.items())]),
        "dtype": None if tensor is None else str(tensor.dtype).removeprefix("torch."),
        "shape": None if tensor is None else [int(size) for size in tensor.shape],
    }
