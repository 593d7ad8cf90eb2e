"""Arguments of a call that another process is to make: tensors by what is known of them, everything else by value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from segscope.errors import SegscopeError

DTYPES: Final = (
    "bfloat16", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "bool", "int8", "uint8", "int16",
    "int32", "int64", "complex64", "complex128",
)  # fmt: skip


@dataclass(frozen=True)
class TensorSpec:
    """A tensor argument without a tensor: torch need not be there.

    Its values are not defined where it is floating or complex, and zero where it is not (zero is a valid index).
    SegscopeError for a dtype that torch does not have, a negative size, or a stride of another length.
    """

    shape: Sequence[int]
    """Elements in each dimension."""
    dtype: str = "bfloat16"
    """torch's name of it."""
    stride: Sequence[int] | None = None
    """Elements from one to the next in each dimension; None for a contiguous tensor."""
    requires_grad: bool = False
    """As torch has it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _sizes("shape", self.shape))
        object.__setattr__(self, "dtype", str(self.dtype).removeprefix("torch."))
        if self.dtype not in DTYPES:
            raise SegscopeError(f"TensorSpec: unknown dtype {self.dtype!r}; valid: {', '.join(DTYPES)}")
        if self.stride is not None:
            object.__setattr__(self, "stride", _sizes("stride", self.stride))
            if len(self.stride) != len(self.shape):
                raise SegscopeError(f"TensorSpec: {len(self.shape)} dimensions, but {len(self.stride)} strides")


def _sizes(what: str, given: Sequence[int]) -> tuple[int, ...]:
    try:
        sizes = tuple(int(size) for size in given)
    except (TypeError, ValueError):
        raise SegscopeError(f"TensorSpec: {what} {given!r}: must be whole numbers, such as (64, 128)") from None
    if any(size < 0 for size in sizes):
        raise SegscopeError(f"TensorSpec: {what} {sizes}: must not be negative")
    return sizes


def specified(value: object, where: str) -> object:
    """Return an argument with a TensorSpec in place of each tensor.

    ``where`` is what an error calls it. SegscopeError for what can only be an argument in its own process.
    """
    if isinstance(value, TensorSpec) or value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) in (list, tuple):
        items = cast("Sequence[object]", value)
        return type(items)(specified(item, where) for item in items)  # type: ignore[call-arg]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: specified(item, where) for key, item in value.items()}
    if _is_of_torch(value, "dtype"):
        return value
    if hasattr(value, "stride") and hasattr(value, "requires_grad"):
        tensor: Any = value
        stride = None if tensor.is_contiguous() else tuple(tensor.stride())
        return TensorSpec(tuple(tensor.shape), str(tensor.dtype), stride, tensor.requires_grad)
    valid = "tensors, TensorSpecs, numbers, strings, None, dtypes, and lists, tuples and dicts of them"
    raise SegscopeError(f"{where}: {type(value).__name__} cannot be passed to another process; valid: {valid}")


def as_json(value: object) -> object:
    """Return what `specified` returned as JSON that ``workloads/function.py`` reads."""
    if isinstance(value, TensorSpec):
        return {"tensor": asdict(value)}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [as_json(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": {key: as_json(item) for key, item in value.items()}}
    return {"dtype": str(value).removeprefix("torch.")} if _is_of_torch(value, "dtype") else value


def _is_of_torch(value: object, name: str) -> bool:
    return type(value).__module__ == "torch" and type(value).__name__ == name
