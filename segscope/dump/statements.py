"""One statement: text to a record of an expression (spec section 1.5)."""

import re
from collections.abc import Sequence
from typing import Any

from segscope.dump.operators import INFIX, PREFIX, kind_of_function
from segscope.dump.scan import closing, split
from segscope.dump.values import Tensors

Record = dict[str, Any]

_VALUE = re.compile(r"(?<![\w.:])(?:T\d+(?!\w)|(?:ptr|var|f4x2_|[idfbcas])\d+(?![\w(]))")
_NAME = re.compile(r"[A-Za-z_][\w:.<>]*")
_CAST = re.compile(r"__(e\dm\d|[a-z]+)2(\w+)")
_C_CAST = re.compile(r"\(((?:std::complex<\w+>|\w+))\)((?:std::real|__\w+)?)")
_KEYWORD = re.compile(r"([A-Za-z_][\w ]*?) ?= ?(.+)", re.DOTALL)


def parse(text: str, expr_id: int, tensors: Tensors) -> Record:
    """Read one statement, such as ``T18_l_float[..]\\n   = cat( T16_.., T17_.., 3 )``."""
    short = " ".join(tensors.abbreviate(text).split())
    left, equals, right = short.partition(" = ")
    if not equals:
        return unknown(text, expr_id, op=short.partition("(")[0].strip()[:80], inputs=_VALUE.findall(short))
    right = right.removesuffix(";").strip()
    op, kind, arguments = _operation(right)
    positional, attributes = _keywords(arguments)
    record: Record = {
        "id": expr_id,
        "kind": kind,
        "op": op,
        "outputs": _VALUE.findall(left),
        "inputs": _VALUE.findall(right),
        "attributes": attributes,
        "text": text,
    }
    if kind == "unknown":
        record["op"] = op or right[:80]
    else:
        record["attributes"] |= _attributes_of(kind, op, positional)
    return record


def unknown(text: str, expr_id: int, op: str = "", inputs: Sequence[str] = ()) -> Record:
    """Return the record of a statement that is kept as text."""
    return {
        "id": expr_id,
        "kind": "unknown",
        "op": op,
        "outputs": [],
        "inputs": list(inputs),
        "attributes": {},
        "text": text,
    }


def _operation(right: str) -> tuple[str, str, list[str]]:
    """Return operator, kind and arguments of a right-hand side."""
    if match := _NAME.match(right):
        rest = right[match.end() :].lstrip()
        if rest.startswith("(") and closing(rest, 0) == len(rest) - 1:
            arguments = [part.strip() for part in split(rest[1:-1].strip(), ",") if part.strip()]
            return match.group(), kind_of_function(match.group()), arguments
    if match := _C_CAST.match(right):
        return match.group(), "cast", [right[match.end() :]]
    for op in INFIX:
        operands = split(right, f" {op} ")
        if len(operands) == 2:
            return op, "binary", [part.strip() for part in operands]
    for op in PREFIX:
        if right.startswith(op):
            return op, "unary", [right[1:]]
    if right.startswith("{"):
        return "{", "construct", [right]
    if _VALUE.fullmatch(right):
        return "", "set", [right]
    if _VALUE.match(right) and "." in right:
        return ".", "get_attribute", [right]
    if _VALUE.match(right) and right.endswith("]"):
        return "[", "get_item", [right]
    return "", "unknown", [right]


def _keywords(arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    positional, named = [], {}
    for argument in arguments:
        match = _KEYWORD.fullmatch(argument)
        if match:
            named[match.group(1)] = _flags(match.group(2)) if match.group(1) == "flags" else _constant(match.group(2))
        else:
            positional.append(argument)
    return positional, named


def _attributes_of(kind: str, op: str, positional: list[str]) -> dict[str, Any]:
    if kind == "slice" and len(positional) > 1:
        ranges = re.findall(r"\{([^{}]*)\}", positional[1])
        return {"ranges": [[_constant(part) for part in r.split(", ")] for r in ranges]}
    if kind == "pad" and len(positional) > 1:
        return {"widths": _numbers(positional[1])}
    if kind == "cat" and positional:
        return {"dim": _constant(positional[-1])}
    if kind == "expand" and len(positional) > 1:
        return {"sizes": _numbers(positional[1])}
    if kind == "cast" and (match := _CAST.fullmatch(op)):
        return {"from": match.group(1), "to": match.group(2)}
    return {}


def _numbers(braces: str) -> list[Any]:
    return [_constant(part) for part in split(braces.strip("{} "), ", ")]


def _flags(braces: str) -> list[bool]:
    return [part.strip() == "true" for part in braces.strip("{} ").split(",")]


def _constant(text: str) -> Any:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text
