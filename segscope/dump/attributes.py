"""What a statement prints beside its operands: dimensions, ranges, flags (docs/dump-format.md 1.5)."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from segscope.dump.casts import is_dtype
from segscope.dump.scan import UnbalancedError, closing, split

Attributes = dict[str, Any]

_NAME = re.compile(r"[A-Za-z_][\w ]*")
_WORDS = {"true": True, "True": True, "false": False, "False": False}
_RENAMED = {"self": "in"}
"""Names that older versions print, and today's."""


class Call(NamedTuple):
    """The arguments of an operation, and what it defines."""

    positional: list[str]
    named: Attributes
    outputs: Sequence[str]


def read(kind: str, arguments: Sequence[str], outputs: Sequence[str]) -> Attributes:
    """Return the attributes of an operation: those with a printed name under that, the others under ours.

    Raises UnbalancedError where the arguments are not those of the operation.
    """
    positional, named = keywords(arguments)
    reader = _READERS.get(kind)
    if reader is None:
        return named
    try:
        return named | reader(Call(positional, named, outputs))
    except (IndexError, StopIteration, ValueError):
        raise UnbalancedError(f"not the arguments of {kind}: {', '.join(arguments)[:80]}") from None


def keywords(arguments: Sequence[str]) -> tuple[list[str], Attributes]:
    """Return the arguments without a name, and those that are printed as ``name = value``."""
    positional: list[str] = []
    named: Attributes = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if equals and _NAME.fullmatch(name := name.strip()):
            named[_RENAMED.get(name, name)] = constant(value)
        else:
            positional.append(argument)
    return positional, named


def constant(text: str) -> bool | int | str:
    """Return a truth value or an integer as what it is, anything else as its text."""
    text = text.strip()
    digits = text.removeprefix("-")
    if digits.isdecimal() and len(digits) <= 18:
        return int(text)
    return _WORDS.get(text, text)


@lru_cache(maxsize=8192)
def _list(braces: str) -> tuple[bool | int | str, ...]:
    inside = braces.strip()[1:-1].strip()
    return tuple(map(constant, split(inside, ", "))) if inside else ()


def _integers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d{1,18}", text)]


@lru_cache(maxsize=8192)
def _ranges(braces: str) -> tuple[tuple[bool | int | str, ...], ...]:
    inside = braces[1:-1].strip()
    return tuple(map(_list, split(inside, " "))) if inside else ()


def _flags(call: Call) -> Attributes:
    return {"flags": _list(str(call.named["flags"]))} if "flags" in call.named else {}


def _linear(call: Call) -> Attributes:
    return {"bias": call.positional[2]} if len(call.positional) > 2 else {}


def _expand(call: Call) -> Attributes:
    return {"sizes": _list(call.positional[1])} if len(call.positional) > 1 else {}


def _full(call: Call) -> Attributes:
    """``{i0, 4}, float(1)``; without sizes there is no comma: ``{}float(1)``."""
    first, *rest = call.positional
    end = closing(first, 0) + 1
    return {"sizes": _list(first[:end]), "value": constant(first[end:] or rest[0])}


def _rng(call: Call) -> Attributes:
    """``{i0, i2}``, up to two parameters, the dtype, and in most versions the seed."""
    sizes, *rest = call.positional
    at = next(index for index, item in enumerate(rest) if is_dtype(item))
    found: Attributes = {"sizes": _list(sizes), "dtype": rest[at]}
    if at:
        found["parameters"] = [constant(item) for item in rest[:at]]
    return found | dict(zip(("seed", "offset"), map(constant, rest[at + 1 :]), strict=False))


def _welford(call: Call) -> Attributes:
    found: Attributes = dict(zip(("avg", "var", "count"), call.outputs, strict=False))
    if "initial value" in call.named:
        found["initial value"] = split(str(call.named["initial value"]), " ")
    return found


_READERS: dict[str, Callable[[Call], Attributes]] = {
    "slice": lambda call: {"ranges": _ranges(call.positional[1])},
    "pad": lambda call: {"widths": _list(call.positional[1])},
    "cat": lambda call: {"dim": constant(call.positional[-1])},
    "expand": _expand,
    "broadcast": _flags,
    "squeeze": _flags,
    "shift": lambda call: {"offsets": _integers(call.positional[1]), "pads": _integers(call.positional[2])},
    "window_gather": lambda call: {"window": _list(call.positional[1]), "pads": _integers(call.positional[2])},
    "view_as_scalar": lambda call: {"vector_id": call.positional[1]},
    "welford": _welford,
    "full": _full,
    "iota": lambda call: dict(zip(("length", "start", "step", "dtype"), map(constant, call.positional), strict=False)),
    "eye": lambda call: dict(zip(("size", "dtype"), map(constant, call.positional), strict=False)),
    "rng": _rng,
    "topk": lambda call: {"k": constant(call.positional[1])},
    "linear": _linear,
    "block_quantize": lambda call: dict(zip(("scale", "quantized"), call.outputs, strict=False)),
    "get_attribute": lambda call: {"attribute": call.positional[1]},
    "get_item": lambda call: {"index": constant(call.positional[1])},
}
