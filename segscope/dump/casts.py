"""What a cast converts from and to, in every spelling (docs/dump-format.md 1.5, EXPR_NAMES)."""

import re
from typing import Final

_TYPES: Final = (
    "bool half bfloat float double int8 int16 int32 int64 int uint8 uint16 uint32 uint64 uint index "
    "complex_float complex_double e4m3 e5m2 e8m0 e2m1"
).split()
_TYPE: Final = "|".join(_TYPES)
_NAMED: Final = re.compile(rf"__(?:(real_then_)?to_|(real_then)_2|({_TYPE})2)({_TYPE})")
_C_STYLE: Final = re.compile(r"\(([\w:]+(?:<\w+>)?)\)(std::real|__(half|bfloat)2\w+)?(?=\()")
_WIDTHS: Final = {"int": "int64", "uint": "uint64"}
"""``__half2int`` makes an ``int64_t``, ``__half2int32`` an ``int``."""
_DTYPES: Final = {
    "int": "int32",
    "nvfuser_index_t": "index",
    "std::complex<float>": "complex_float",
    "std::complex<double>": "complex_double",
}


def is_cast(op: str) -> bool:
    """Say whether an operator is a cast that is printed as a function, such as ``__bfloat2float``."""
    return _NAMED.fullmatch(op) is not None


def is_dtype(text: str) -> bool:
    """Say whether ``text`` is a dtype of single numbers, such as ``__bfloat`` or ``std::complex<double>``."""
    return word(text) in _TYPES


def c_style(text: str) -> str | None:
    """Return the cast that ``text`` begins with, such as ``(float)`` or ``(double)std::real``, None if there is none.

    That is how casts were printed until 3 July 2025, those to and from half, bfloat and the 8-bit types excepted.
    """
    match = _C_STYLE.match(text)
    return match.group() if match and is_dtype(match.group(1)) else None


def types_of(op: str, source_dtype: str | None) -> dict[str, str | bool]:
    """Return what a cast converts ``from`` and ``to``, and ``real`` where it drops the imaginary part.

    The words are those of the operators: ``half``, ``bfloat``, ``int64``, ``index``, ``complex_float``, ... Where the
    operator does not say what it converts from, or says ``int`` for any integer, the operand's dtype does.
    """
    if match := _NAMED.fullmatch(op):
        real = match.group(1) or match.group(2)
        source, target = match.group(3), match.group(4)
    elif match := _C_STYLE.match(f"{op}("):
        real, source, target = match.group(2) == "std::real", match.group(3), word(match.group(1))
    else:
        return {}
    if source_dtype and source in (None, "int"):
        source = word(source_dtype)
    types: dict[str, str | bool] = {"from": _WIDTHS.get(source, source)} if source else {}
    types["to"] = _WIDTHS.get(target, target)
    return types | {"real": True} if real else types


def word(dtype: str) -> str:
    """Return the word that casts use for a dtype: ``bfloat`` for ``__bfloat``, ``int64`` for ``int64_t``."""
    return _DTYPES.get(dtype) or dtype.removeprefix("__").removesuffix("_t")
