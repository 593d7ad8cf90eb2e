"""The words in which operations of both compilers are compared: nvFuser's (``segscope.model.Expr.operation``)."""

from __future__ import annotations

from typing import Final

from segscope.vocabulary import METADATA_KINDS

_SAME: Final = {
    "_to_copy": "cast",
    "convert_element_type": "cast",
    "_unsafe_view": "reshape",
    "view": "reshape",
    "clone": "set",
    "copy": "set",
    "constant_pad_nd": "pad",
    "getitem": "slice",
    "split": "slice",
    "split_with_sizes": "slice",
    "select": "slice",
    "t": "permute",
    "transpose": "permute",
    "unsqueeze": "broadcast",
    "slice_scatter": "pad",
    "sum": "reduction",
    "amax": "reduction",
    "amin": "reduction",
    "prod": "reduction",
    "mean": "reduction",
    "prepare_softmax_online": "reduction",
    "_softmax": "softmax",
}
"""ATen's and prims' names for what nvFuser calls otherwise."""

QUIET: Final = METADATA_KINDS | {"cast", "full"}
"""Operations that say little about what a kernel is for: metadata operations, casts, constants."""


def kind(operation: str) -> str:
    """Return the word for an operation of ATen or prims: ``cast`` for ``prims.convert_element_type.default``."""
    parts = operation.removeprefix("<built-in function ").rstrip(">").split(".")
    name = parts[1] if len(parts) > 1 else parts[0]
    return _SAME.get(name, name)


def is_view(operation: str) -> bool:
    """Say whether an operation of ATen moves no data: its result is a view of its first operand."""
    return kind(operation) in METADATA_KINDS - {"set"}
