"""Each kind of expression as a call of nvFuser's Python API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Final

from segscope.dump.scan import split
from segscope.dump.values import Names
from segscope.explain.known import Known
from segscope.explain.program import Argument, Call, Dtype, RebuildError, Value
from segscope.model import Expr

_UNARY_NAMES: Final = """
    abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc erfcinv erfinv exp exp2 expm1 floor frac isfinite isinf
    isnan isneginf isposinf isreal lgamma log log10 log1p log2 reciprocal relu rsqrt sigmoid signbit silu sin sinh sqrt
    tan tanh trunc
""".split()
_UNARY: Final = {
    **{name: name for name in _UNARY_NAMES},
    **{f"{name}f": name for name in _UNARY_NAMES},
    **{"-": "neg", "!": "logical_not", "~": "bitwise_not"},
}
_BINARY: Final = {
    **{"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod"},
    **{"==": "eq", "!=": "ne", ">=": "ge", "<=": "le", ">": "gt", "<": "lt"},
    **{"&&": "logical_and", "||": "logical_or", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor"},
    **{"pow": "pow", "atan2": "atan2", "atan2f": "atan2", "fmod": "fmod", "fmodf": "fmod", "remainder": "remainder"},
}
_REDUCTIONS: Final = {"add": "sum", "mul": "prod", "max": "max", "min": "min"}
"""Functions of the API by operator as printed (``UnaryOpType``, ``BinaryOpType`` in csrc/type.cpp)."""

_Built = tuple[str, list[Argument]]
"""A function of the API, and its arguments."""

_SIXTEEN_BITS: Final = frozenset({"bfloat", "half"})


def call(expr: Expr, known: Known, pads: Mapping[str, Expr]) -> Call:
    """Return the call that makes ``expr`` again.

    ``pads`` are the pads, by output, that a cat reads and nothing else: they come with the call of the cat.

    Raises RebuildError for an operator that is not among those here, and where the API would make something else.
    """
    builder = _BUILDERS.get(expr.kind)
    if len(expr.outputs) != 1 or not (expr.tensor_inputs or expr.kind == "full"):
        raise _no_such(expr, expr.op)
    if expr.kind == "cat":
        function, arguments = _cat(expr, known, pads)
    elif builder:
        function, arguments = builder(expr, known)
    else:
        raise _no_such(expr, expr.op)
    return Call(output=expr.outputs[0], function=function, arguments=tuple(arguments))


def _unary(expr: Expr, known: Known) -> _Built:
    return _function(_UNARY, expr, known), [_operand(expr)]


def _binary(expr: Expr, known: Known) -> _Built:
    function = _function(_BINARY, expr, known)
    operands: list[Argument] = [Value(value=name) for name in expr.tensor_inputs]
    if len(operands) == 2:
        return function, operands
    texts = _operand_texts(expr)
    tensor = expr.tensor_inputs[0]
    return function, [Value(value=t) if t == tensor else known.scalar(t, expr.outputs[0]) for t in texts]


def _operand_texts(expr: Expr) -> list[str]:
    """``T8`` and ``double(3)`` of ``pow(T8 , double(3))`` and of ``T8 - double(3)``."""
    right = " ".join(Names().abbreviate(expr.text).partition(" = ")[2].split()).rstrip(";")
    if right.startswith(f"{expr.op}("):
        return [text.strip() for text in split(right[len(expr.op) + 1 : -1], ",")]
    return split(right, f" {expr.op} ")


def _cast(expr: Expr, known: Known) -> _Built:
    if "real" in expr.attributes:
        raise _no_such(expr, expr.op)
    return "cast", [_operand(expr), Dtype(dtype=str(expr.attributes["to"]))]


def _reduction(expr: Expr, known: Known) -> _Built:
    operator = str(expr.attributes["op"])
    if operator not in _REDUCTIONS:
        raise _no_such(expr, operator)
    dims = known.dims(expr.outputs[0], reduced=True)
    return _REDUCTIONS[operator], [_operand(expr), tuple(n for n, dim in enumerate(dims) if dim.iter_type == "r")]


def _full(expr: Expr, known: Known) -> _Built:
    name = expr.outputs[0]
    value = known.scalar(str(expr.attributes["value"]), name)
    return "full", [known.numbers(expr.attributes["sizes"], name), value, Dtype(dtype=known.dtype(name))]


def _set(expr: Expr, known: Known) -> _Built:
    return "set", [_operand(expr)]


def _segmenter_set(expr: Expr, known: Known) -> _Built:
    if expr.op != "SegmenterSet":
        raise _no_such(expr, expr.op)
    return "segment_set", [_operand(expr)]


def _reshape(expr: Expr, known: Known) -> _Built:
    return "reshape", [_operand(expr), known.shape(expr.outputs[0])]


def _expand(expr: Expr, known: Known) -> _Built:
    return "expand", [_operand(expr), known.shape(expr.outputs[0])]


def _permute(expr: Expr, known: Known) -> _Built:
    """Until the transforms are printed: the iter domains of the output are numbered in the order of the input."""
    name = expr.outputs[0]
    transforms = known.transforms.get(name)
    numbers = [dim.number for dim in known.dims(name)]
    order = transforms.permutation if transforms else tuple(map(sorted(numbers).index, numbers))
    before = known.shape(expr.tensor_inputs[0])
    if order is None or len(order) != len(before) or tuple(before[n] for n in order) != known.shape(name):
        raise RebuildError(f"{name}: the dump does not print which permutation it is")
    return "permute", [_operand(expr), order]


def _slice(expr: Expr, known: Known) -> _Built:
    ranges = expr.attributes["ranges"]
    assert isinstance(ranges, tuple)
    starts, stops, steps = zip(*(known.numbers(bounds, expr.outputs[0]) for bounds in ranges), strict=True)
    return "slice", [_operand(expr), starts, stops, steps]


def _squeeze(expr: Expr, known: Known) -> _Built:
    flags = expr.attributes.get("flags") or _dropped(known, expr.tensor_inputs[0], expr.outputs[0])
    assert isinstance(flags, tuple)
    dropped = tuple(n for n, flag in enumerate(flags) if flag)
    dims = known.dims(expr.tensor_inputs[0])
    squeeze_expanded: list[Argument] = [True] if any(dims[n].expanded_extent for n in dropped) else []
    return "squeeze", [_operand(expr), dropped, *squeeze_expanded]


def _broadcast(expr: Expr, known: Known) -> _Built:
    flags = expr.attributes.get("flags") or _dropped(known, expr.outputs[0], expr.tensor_inputs[0])
    assert isinstance(flags, tuple)
    return "broadcast", [_operand(expr), tuple(flag is True for flag in flags)]


def _dropped(known: Known, long: str, short: str) -> tuple[bool, ...]:
    """Say which broadcasts of ``long`` are not in ``short``, for dumps without flags (before 2025)."""
    shape, wanted = known.shape(long), known.shape(short)
    broadcasts = [n for n, dim in enumerate(known.dims(long)) if dim.iter_type == "b"]
    ways = [
        dropped
        for dropped in combinations(broadcasts, max(0, len(shape) - len(wanted)))
        if tuple(size for n, size in enumerate(shape) if n not in dropped) == wanted
    ]
    if len(ways) != 1:
        raise RebuildError(f"{long}: which of its broadcasts are not in {short} is not printed")
    return tuple(n in ways[0] for n in range(len(shape)))


def _pad(expr: Expr, known: Known) -> _Built:
    """The API takes the widths of the innermost dimension first. The value is not printed: it is left at zero."""
    widths = known.numbers(expr.attributes["widths"], expr.outputs[0])
    pairs = list(zip(widths[::2], widths[1::2], strict=True))
    return "pad", [_operand(expr), tuple(width for pair in reversed(pairs) for width in pair)]


def _cat(expr: Expr, known: Known, pads: Mapping[str, Expr]) -> _Built:
    """The API's cat pads what it is given, so the pads that are printed must be just those."""
    name = expr.outputs[0]
    dim = known.number(expr.attributes["dim"], name)
    if missing := [operand for operand in expr.tensor_inputs if operand not in pads]:
        raise RebuildError(f"{name}: a cat can be rebuilt only with its pads, and {missing[0]} is not one of its own")
    parts = [pads[operand].tensor_inputs[0] for operand in expr.tensor_inputs]
    sizes = [known.shape(part)[dim] for part in parts]
    for position, operand in enumerate(expr.tensor_inputs):
        widths = [0] * (2 * len(known.dims(name)))
        widths[2 * dim : 2 * dim + 2] = sum(sizes[:position]), sum(sizes[position + 1 :])
        if known.numbers(pads[operand].attributes["widths"], operand) != tuple(widths):
            raise RebuildError(f"{operand}: not the padding that a cat gives")
    return "cat", [tuple(Value(value=part) for part in parts), dim]


def _function(names: Mapping[str, str], expr: Expr, known: Known) -> str:
    """Return the function of an operator. On 16-bit types the API would add casts to float."""
    if expr.op not in names:
        raise _no_such(expr, expr.op)
    if narrow := _SIXTEEN_BITS & {known.dtype(name) for name in expr.tensor_inputs}:
        raise RebuildError(
            f"{expr.outputs[0]}: operator {expr.op} on {min(narrow)} cannot be rebuilt: it would be cast"
        )
    return names[expr.op]


def _operand(expr: Expr) -> Value:
    return Value(value=expr.tensor_inputs[0])


def _no_such(expr: Expr, operator: str) -> RebuildError:
    return RebuildError(f"{', '.join(expr.outputs) or expr.id}: operator {operator} ({expr.kind}) cannot be rebuilt")


_BUILDERS: Final[dict[str, Callable[[Expr, Known], _Built]]] = {
    "unary": _unary,
    "binary": _binary,
    "cast": _cast,
    "reduction": _reduction,
    "full": _full,
    "set": _set,
    "segmenter_set": _segmenter_set,
    "reshape": _reshape,
    "expand": _expand,
    "permute": _permute,
    "slice": _slice,
    "squeeze": _squeeze,
    "broadcast": _broadcast,
    "pad": _pad,
}
