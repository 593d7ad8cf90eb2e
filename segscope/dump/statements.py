"""One statement: text to a record of an expression (docs/dump-format.md 1.5)."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from segscope.dump import attributes, casts, headed
from segscope.dump.operators import INFIX, PREFIX, kind_of_function
from segscope.dump.scan import UnbalancedError, closing, depth_after, split
from segscope.dump.values import VALUE, Tensors

Record = dict[str, Any]

_NAME = re.compile(r"[A-Za-z_][\w:.<>]*")
_CONSTANT = re.compile(r"-?\d[\w.+-]*|true|false")
_MEMBER = re.compile(r"\w+\.\w+")
_ITEM = re.compile(r"\w+\[.*\]")
_ROLE = re.compile(r" ?\((?:Avg|Var|Count|N)\)")
_EXTENT = re.compile(r"(?<=\d)\{[^{}]*\}")


def parse(text: str, expr_id: int, tensors: Tensors) -> Record:
    """Read one statement, such as ``T18_l_float[..]\\n   = cat( T16_.., T17_.., 3 )``.

    An operator that is not known gives the kind ``unknown``. Raises UnbalancedError where brackets do not close.
    """
    short = " ".join(tensors.abbreviate(text).split())
    found = _read(short)
    if found is None:
        return unknown(text, expr_id, op=short.partition("(")[0].strip()[:80], inputs=VALUE.findall(short))
    record = {"id": expr_id, **found, "text": text}
    if record["kind"] == "cast":
        inputs = record["inputs"]
        record["attributes"] = casts.types_of(record["op"], tensors.dtype(inputs[0]) if inputs else None)
    return record


@lru_cache(maxsize=8192)
def _read(short: str) -> Record | None:
    """Read a statement whose tensors are cut down to their names; fusions of one shape have the same ones."""
    if depth_after(short) != 0:
        raise UnbalancedError(f"unbalanced brackets in {short[:80]!r}")
    if "(Avg)" in short:
        short = _ROLE.sub("", short)
    return headed.parse(short) or _assignment(short)


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


def _assignment(short: str) -> Record | None:
    """Read ``outputs = operation``; None where there is no such ``=``."""
    left, equals, right = short.replace(" =scatter(", " = scatter(", 1).partition(" = ")
    if not equals or depth_after(left) != 0:
        return None
    right = right.removesuffix(";").rstrip()
    op, kind, arguments = _operation(right)
    outputs, inputs = VALUE.findall(left), VALUE.findall(right)
    if left not in outputs and (beside := VALUE.sub("", left).strip(" ,()")):
        raise UnbalancedError(f"{beside[:80]!r} beside the outputs")
    if kind in ("select", "view_as_scalar"):
        inputs = VALUE.findall(_EXTENT.sub("", right))
    return {
        "kind": kind,
        "op": op if kind != "unknown" or op else right[:80],
        "outputs": outputs,
        "inputs": inputs,
        "attributes": {} if kind == "cast" else attributes.read(kind, arguments, outputs),
    }


def _operation(right: str) -> tuple[str, str, list[str]]:
    """Return operator, kind and arguments of a right-hand side."""
    if match := _NAME.match(right):
        op, rest = match.group(), right[match.end() :].lstrip()
        if rest.startswith("(") and closing(rest, 0) == len(rest) - 1:
            return ("", "set", []) if casts.is_dtype(op) else (op, kind_of_function(op), _arguments(op, rest[1:-1]))
    elif right.startswith("{") and closing(right, 0) == len(right) - 1:
        return "{", "construct", _arguments("{", right[1:-1])
    elif cast := casts.c_style(right):
        return cast, "cast", []
    operands = split(right, " ")
    if len(operands) == 3 and operands[1] in INFIX:
        return operands[1], "binary", []
    if len(operands) == 1:
        if VALUE.fullmatch(right) or _CONSTANT.fullmatch(right):
            return "", "set", []
        if right.startswith(PREFIX):
            return right[0], "unary", []
        if _MEMBER.fullmatch(right):
            return ".", "get_attribute", right.split(".")
        if _ITEM.fullmatch(right):
            return "[", "get_item", right[:-1].split("[", 1)
    return "", "unknown", []


def _arguments(op: str, inside: str) -> list[str]:
    if op == "Welford":
        inside = inside.replace(" initial value =", ", initial value =").replace(" allreduce =", ", allreduce =")
    return [part for piece in split(inside, ",") if (part := piece.strip())]
