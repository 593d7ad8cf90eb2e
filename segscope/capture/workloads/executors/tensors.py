"""Facts about tensors: what they take, what is kept for backward, what must move at least."""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

Record = dict[str, Any]


def leaves(values: Any) -> list[torch.Tensor]:
    """Return the tensors among results or arguments, however they are nested."""
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def facts(values: Iterable[torch.Tensor]) -> list[Record]:
    """Return what each tensor takes."""
    return [
        {
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "bytes": touched(tensor),
        }
        for tensor in values
    ]


def touched(tensor: torch.Tensor) -> int:
    """Return the bytes of the elements that a tensor shows; those that an expanded dimension repeats count once."""
    size: int = tensor.element_size()
    for extent, stride in zip(tensor.shape, tensor.stride(), strict=True):
        size *= extent if stride or not extent else 1
    return size


def storage(tensor: torch.Tensor) -> int:
    """Return what tells storages apart."""
    place: int = tensor.untyped_storage().data_ptr()
    return place


def least_bytes(inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> int:
    """Return the bytes of the inputs and of the outputs that are no views of them, each counted once."""
    seen = {storage(tensor) for tensor in inputs}
    made = {storage(tensor): touched(tensor) for tensor in outputs if storage(tensor) not in seen}
    return sum({storage(tensor): touched(tensor) for tensor in inputs}.values()) + sum(made.values())


def saved(call: Callable[[], list[torch.Tensor]], inputs: list[torch.Tensor]) -> tuple[list[Record], list[Record]]:
    """Return what a call keeps for backward: what it makes for that, and the inputs and outputs that it keeps."""
    kept: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        outputs = call()
    known = {storage(tensor) for tensor in (*inputs, *outputs)}
    distinct = {storage(tensor): tensor for tensor in kept}
    made = [tensor for place, tensor in distinct.items() if place not in known]
    return facts(made), facts(tensor for place, tensor in distinct.items() if place in known)


def in_float32(values: Any) -> Any:
    """Return a copy of a module, or of arguments, with its floating-point numbers in float32."""
    if isinstance(values, torch.nn.Module):
        return copy.deepcopy(values).float()

    def convert(value: Any) -> Any:
        return value.float() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    return tree_map(convert, values)
