"""The words for dtypes: nvFuser's as printed, and PyTorch's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from segscope.errors import SegscopeError
from segscope.model.tensor import DTYPE_BYTES
from segscope.several import several

_TORCH: Final = {
    "bfloat16": "__bfloat",
    "float16": "__half",
    "float32": "float",
    "float64": "double",
    "float8_e4m3fn": "__e4m3",
    "float8_e5m2": "__e5m2",
    "int32": "int",
    "int64": "int64_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "complex64": "std::complex<float>",
    "complex128": "std::complex<double>",
}


def as_printed(given: str | Iterable[str], present: Iterable[str | None]) -> tuple[str, ...]:
    """Return dtypes as nvFuser prints them: ``__bfloat`` for ``bfloat16``, ``bfloat`` and ``__bfloat``.

    Raises SegscopeError for one that is not known and not ``present`` either.
    """
    valid = {*DTYPE_BYTES, *present}
    found = []
    for name in several(given):
        word = str(name).removeprefix("torch.")
        printed = next((w for w in (_TORCH.get(word, word), f"__{word}") if w in valid), None)
        if printed is None:
            raise SegscopeError(f"unknown dtype {name!r}; valid: {', '.join([*_TORCH, *DTYPE_BYTES])}")
        found.append(printed)
    return tuple(found)
