"""The words for operations in selectors and assertions."""

from __future__ import annotations

from typing import Final

from segscope.dump import casts
from segscope.dump.operators import INFIX, NAMED, PREFIX, kind_of_function
from segscope.errors import SegscopeError
from segscope.model import Expr, SegmentedFusion
from segscope.render.words import SEPARATOR, operation_detail, operations
from segscope.vocabulary import operation

OPERATION: Final = "op:"
"""What may stand before a word, to say that it is an operation."""

_SIGNS: Final = {
    *INFIX,
    *PREFIX,
    *(operation("binary", op) for op in INFIX),
    *(operation("unary", op) for op in PREFIX),
}
_WORDS: Final = frozenset({"cast", "unary", "binary", "ternary", "unknown", *NAMED.values(), *_SIGNS})
_CAST_TO: Final = "cast to "


def expressions(fusion: SegmentedFusion, word: str) -> list[Expr]:
    """Return the expressions on tensors of that operation, in the order of the fusion.

    A word is what tables call it (``cat``, ``neg``, ``cast``, ``cast to float``), its kind (``Expr.kind``), or its
    operator as printed (``Set.Permute``).
    """
    name = word.removeprefix(OPERATION)
    return [expr for expr in fusion.exprs if not expr.is_scalar and name in _words(expr)]


def check_operation(fusion: SegmentedFusion, word: str) -> None:
    """Raise SegscopeError for a word that is no operation of a known nvFuser, and none of the fusion either."""
    name = word.removeprefix(OPERATION) if isinstance(word, str) else ""
    if not _known(name) and not any(name in _words(expr) for expr in fusion.exprs):
        raise SegscopeError(f"unknown operation {word!r}; {operations_here(fusion)}")


def operations_here(fusion: SegmentedFusion) -> str:
    """Return ``operations here: 2 slice · neg · 3 cast``."""
    return f"operations here: {SEPARATOR.join(operations(fusion, *fusion.groups))}"


def _words(expr: Expr) -> tuple[str, ...]:
    return expr.kind, expr.op, expr.operation, operation_detail(expr)


def _known(name: str) -> bool:
    if name in _WORDS or kind_of_function(name) != "unknown" or casts.c_style(f"{name}(") == name:
        return True
    dtype = name.removeprefix(_CAST_TO)
    return dtype != name and casts.is_dtype(dtype) and casts.word(dtype) == dtype
