"""One way to write a FusionDefinition for nvFuser's two Python APIs.

The legacy API (package ``nvfuser``) is used as long as a version has it, until February 2026: in the first versions of
the direct one (``nvfuser_direct``) operations are missing.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

try:
    from nvfuser import DataType, FusionDefinition
except ImportError:
    from nvfuser_direct import DataType, FusionDefinition

DTYPES = {
    torch.bfloat16: DataType.BFloat16,
    torch.float16: DataType.Half,
    torch.float32: DataType.Float,
    torch.float64: DataType.Double,
    torch.int64: DataType.Int,
}


class Definition:
    """A FusionDefinition with the arguments to execute it with; shapes are static and tensors contiguous."""

    def __init__(self) -> None:
        self.fusion = FusionDefinition()
        self.arguments: list[torch.Tensor] = []

    def input(self, *shape: int, dtype: torch.dtype = torch.float32) -> Any:
        """Define an input; its argument's values are not defined, or zero where they might be indices."""
        make = torch.empty if dtype.is_floating_point else torch.zeros
        self.arguments.append(make(shape, dtype=dtype, device="cuda"))
        return self.fusion.define_tensor(
            shape=list(shape), contiguity=[True if size > 1 else None for size in shape], dtype=DTYPES[dtype]
        )

    def output(self, *values: Any) -> None:
        """Define outputs, in this order."""
        for value in values:
            self.fusion.add_output(value)

    def slice(self, x: Any, start: Sequence[int], end: Sequence[int]) -> Any:
        """Return the part of ``x`` from ``start`` up to ``end``, one of each for a dimension."""
        return self.op("slice")(x, list(start), list(end), [1] * len(start))

    def cast(self, x: Any, dtype: torch.dtype) -> Any:
        """Return ``x`` in another dtype."""
        return self.op("cast")(x, DTYPES[dtype])

    def op(self, name: str) -> Callable[..., Any]:
        """Return an operation of ``FusionDefinition.ops``."""
        made: Callable[..., Any] | None = getattr(self.fusion.ops, name, None)
        if made is None:
            raise NotImplementedError(f"the Python API of this nvFuser has no operation {name}")
        return made

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self.op(name)
