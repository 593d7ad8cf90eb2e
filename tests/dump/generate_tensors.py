"""Extents, iter domains and mentions of tensors, written from docs/dump-format.md 1.3."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from segscope.model import IterDomain, Tensor

Draw = Callable[[st.SearchStrategy[Any]], Any]
Record = dict[str, Any]


def _calculated(op: str, a: int, b: int) -> int | None:
    if op in ("/", "%", "ceilDiv") and b == 0:
        return None
    quotient = 0 if b == 0 else math.trunc(a / b)
    return {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "/": quotient,
        "%": a - quotient * b,
        "ceilDiv": 0 if b == 0 else -(-a // b),
        "fmax": max(a, b),
        "fmin": min(a, b),
    }[op]


def _combined(parts: tuple[str, tuple[str, int | None], tuple[str, int | None]]) -> tuple[str, int | None]:
    op, (left, a), (right, b) = parts
    text = f"( {op}({left}, {right}) )" if op.isalpha() else f"( {left} {op} {right} )"
    return text, None if a is None or b is None else _calculated(op, a, b)


_numbers = st.integers(0, 40_000).map(lambda number: (str(number), number))
_extents = st.recursive(
    _numbers | st.sampled_from([("i0", None), ("i3", None)]),
    lambda inner: st.tuples(st.sampled_from("+ - * / % ceilDiv fmax fmin".split()), inner, inner).map(_combined),
    max_leaves=4,
)
_DIMS = ["constant"] * 4 + ["symbol", "nested", "expanded", "reduction", "rfactor", "start", "stop", "symbolic"]


def iter_domain(draw: Draw, number: int, era: int, on_devices: bool) -> IterDomain:
    form = draw(st.sampled_from(_DIMS))
    extent, size = draw(_extents) if form in ("nested", "rfactor") else draw(_numbers)
    more: Record = {"iter_type": "i", "parallel_type": "S"}
    if form == "symbol":
        extent, size = "i3", None
    elif form == "expanded":
        more["iter_type"] = "b"
        if era >= 3:  # until January 2024 the expanded extent stands alone
            expanded, expanded_size = draw(_extents)
            more |= {"expanded_extent": expanded, "expanded_size": expanded_size}
            extent, size = "1", 1
    elif form == "reduction":
        more["iter_type"] = "r"
    elif form == "rfactor":
        more["rfactor"] = True
    elif form in ("start", "stop"):
        more["start"] = "1"
        if form == "stop":
            more["stop"] = "( i0 - 1 )"
    elif form == "symbolic":
        more |= {"iter_type": "?", "rfactor": True}
    if on_devices and form == "constant":
        more["parallel_type"] = "deviceIdx.x"
    return IterDomain(number=number, extent=extent, size=size, **more)


def dim_text(dim: IterDomain) -> str:
    bounds = [bound for bound in (dim.start, dim.stop) if bound]
    expanded = f" ex {dim.expanded_extent}" if dim.expanded_extent else ""
    inside = " : ".join([*bounds, dim.extent]) + expanded
    return f"{dim.iter_type}{dim.parallel_type}{dim.number}{{{inside}}}{'rf' if dim.rfactor else ''}"


def mention(tensor: Tensor, era: int) -> str:
    dims = ", ".join(map(dim_text, tensor.domain))
    if era < 7:
        dims = f" {dims} " if dims else " " if era >= 2 else " 0 "
    dtype = f"_{tensor.dtype}" if era >= 6 else ""
    mesh = f" (DeviceMesh{tensor.mesh})" if tensor.mesh else ""
    return f"{tensor.name}_{tensor.memory}{dtype}[{dims}]{mesh}"
