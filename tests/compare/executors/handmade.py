"""Graphs of Inductor, and what a child records, made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from segscope.compare.executors.region import Node


def node(name: str, operation: str, *inputs: str, arguments: str | None = None, shape: Iterable[int] = (4, 4)) -> Node:
    """An operation on matrices of float32; other arguments than its inputs have to be given as text."""
    return Node(
        name=name,
        operation=operation,
        inputs=inputs,
        arguments=", ".join(inputs) if arguments is None else arguments,
        dtype=None if operation == "output" else "float32",
        shape=None if operation == "output" else tuple(shape),
    )


def graph_record(
    nodes: Iterable[Node], *kernels: dict[str, Any], backward: bool = False, why_not: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
    """What a child records of a graph that Inductor compiled."""
    found = [one.model_dump(mode="json") for one in nodes]
    outputs = next(one["inputs"] for one in reversed(found) if one["operation"] == "output")
    return {
        "backward": backward,
        "nodes": found,
        "outputs": [f"buffer of {name}" for name in outputs],
        "kernels": list(kernels),
        "why_not": list(why_not),
    }


def kernel_record(
    name: str, operations: Iterable[str], reads: dict[str, int], writes: dict[str, int], **made: str
) -> dict[str, Any]:
    """What a child records of a kernel: buffers with all their bytes, and the nodes that the buffers are made for."""
    return {
        "name": name,
        "operations": list(operations),
        "made": made,
        "reads": [{"name": buffer, "dtype": "float32", "bytes": count} for buffer, count in reads.items()],
        "writes": [{"name": buffer, "dtype": "float32", "bytes": count} for buffer, count in writes.items()],
        "extern": name.startswith("extern"),
    }


def operation(name: str, inputs: str, outputs: str, compiler: str | None = None) -> dict[str, Any]:
    """A bound symbol of a Thunder trace; tensors are words."""
    executor = {"inductor": "torchcompile", "nvfuser": "nvfuser", None: "torch"}[compiler]
    facts = {"name": name, "executor": executor, "compiler": compiler, "inside": []}
    return {**facts, "inputs": inputs.split(), "outputs": outputs.split()}


def pass_record(
    graphs: Iterable[dict[str, Any]] = (),
    operations: Iterable[dict[str, Any]] = (),
    outputs: str = "",
    saved: str = "",
    definitions: dict[str, str] | None = None,
) -> dict[str, Any]:
    """What a child records of a direction; there is a Thunder trace if there are operations."""
    fact = {"dtype": "float32", "shape": [4, 4], "bytes": 64}
    trace = {"stage": "last", "text": "", "operations": list(operations)}
    trace |= {"outputs": outputs.split(), "saved": saved.split()}
    return {
        "graphs": list(graphs),
        "inputs": [fact],
        "outputs": [fact for _ in outputs.split()],
        "least_bytes": 128,
        "traces": [trace] if trace["operations"] else [],
        "definitions": definitions or {},
    }
