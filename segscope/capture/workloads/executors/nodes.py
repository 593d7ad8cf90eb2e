"""What a node of a graph of ATen operations does."""

import operator
from collections.abc import Iterable
from typing import Any

import torch
import torch._prims
from torch.fx import Graph, Node
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
CONVERT = torch.ops.prims.convert_element_type.default
LOWER = (torch.bfloat16, torch.float16)


def output_of(graph: Graph) -> Node:
    """Return the node that returns."""
    return next(iter(reversed(graph.nodes)))


def readers(node: Node) -> list[Node]:
    """Return the operations that use a node, in the graph's order."""
    return [other for other in node.graph.nodes if other in node.users and other.op != "output"]


def dtype_of(node: Node) -> Any:
    """Return the dtype of a node that makes one tensor."""
    return node.meta["val"].dtype


def floats(node: Node) -> set[Any]:
    """Return the floating-point dtypes of what a node makes."""
    values: Iterable[Any] = tree_leaves(node.meta.get("val"))
    return {val.dtype for val in values if isinstance(val, torch.Tensor) and val.is_floating_point()}


def converts_to(node: Node) -> Any:
    """Return the dtype that a node converts to, None if it does anything else."""
    if node.target is CONVERT:
        return node.args[1]
    if node.target is aten._to_copy.default and node.kwargs.keys() <= {"dtype", "memory_format"}:
        return node.kwargs.get("dtype")
    return None


def is_upcast(node: Node) -> bool:
    """Say whether a node converts a lower precision to float32."""
    return converts_to(node) is torch.float32 and dtype_of(node.args[0]) in LOWER


def is_pointwise(node: Node) -> bool:
    """Say whether a node is pointwise math, which broadcasts."""
    return torch.Tag.pointwise in getattr(node.target, "tags", ()) or converts_to(node) is not None


def is_view(node: Node) -> bool:
    """Say whether a node is one view of a tensor."""
    return getattr(node.target, "is_view", False) and isinstance(node.meta.get("val"), torch.Tensor)


def takes_any_precision(node: Node) -> bool:
    """Say whether a node computes the same in another precision, up to rounding."""
    moves = getattr(node.target, "is_view", False) or node.target in (aten.cat.default, operator.getitem)
    return moves or is_pointwise(node)


def fixed(node: Node) -> bool:
    """Say whether a node writes to what it reads, or depends on its strides."""
    schema = getattr(node.target, "_schema", None)
    return (schema is not None and schema.is_mutable) or node.target in (aten.as_strided.default, aten.view.dtype)
