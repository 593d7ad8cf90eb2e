"""The operations of ``workloads/rope.py``, in the order of the trace that Thunder makes of it with bookending off."""

from functools import cache
from typing import Any

import torch

from .definition import Definition


def rope(define: Definition, options: dict[str, Any]) -> None:
    """Define LitGPT's QKV split and rotary embedding.

    Options: ``n_head``, ``n_query_groups``, ``head_size``, ``rope_n_elem``, ``batch``, ``sequence_length``, ``dtype``.
    Inputs and outputs have the shapes that ``workloads/rope.py`` tells of; the outputs are v, q and k.
    """
    n_head, groups, size, n_elem = (options[name] for name in ("n_head", "n_query_groups", "head_size", "rope_n_elem"))
    batch, length = options["batch"], options["sequence_length"]
    dtype = getattr(torch, options["dtype"])
    q_per_kv = n_head // groups
    qkv = define.input(batch, length, (n_head + 2 * groups) * size, dtype=dtype)
    tables = {name: define.input(length, n_elem, dtype=dtype) for name in ("cos", "sin")}

    def widened(x: Any) -> Any:
        return x if dtype == torch.float32 else define.cast(x, torch.float32)

    def narrowed(x: Any) -> Any:
        return x if dtype == torch.float32 else define.cast(x, dtype)

    @cache
    def spread(table: str, heads: int) -> Any:
        return define.broadcast_in_dim(tables[table], [batch, heads, length, n_elem], [2, 3])

    @cache
    def wide(table: str, heads: int) -> Any:
        return widened(spread(table, heads))

    def part(x: Any, heads: int, start: int, end: int) -> Any:
        return define.slice(x, [0, 0, 0, start], [batch, heads, length, end])

    def rotated(x: Any, heads: int) -> Any:
        half = n_elem // 2
        x1, x2 = part(x, heads, 0, half), part(x, heads, half, n_elem)
        turned = define.cat([narrowed(define.neg(widened(x2))), x1], 3)
        spread("cos", heads)
        straight = define.mul(widened(x), wide("cos", heads))
        spread("sin", heads)
        crossed = define.mul(widened(turned), wide("sin", heads))
        return narrowed(define.add(straight, crossed))

    heads_of = {"q": n_head, "k": n_head if groups > 1 else 1, "v": n_head if groups > 1 else 1}
    split = define.permute(define.reshape(qkv, [batch, length, groups, q_per_kv + 2, size]), [0, 2, 3, 1, 4])
    ends = {"q": (0, q_per_kv), "k": (q_per_kv, q_per_kv + 1), "v": (q_per_kv + 1, q_per_kv + 2)}
    heads = {
        name: define.slice(split, [0, 0, start, 0, 0], [batch, groups, end, length, size])
        for name, (start, end) in ends.items()
    }
    if groups not in (1, n_head):
        for name in "kv":
            heads[name] = define.broadcast_in_dim(heads[name], [batch, groups, q_per_kv, length, size], [0, 1, 2, 3, 4])
    heads = {name: define.reshape(x, [batch, heads_of[name], length, size]) for name, x in heads.items()}
    turned = {}
    for name in "qk":
        x = heads[name] if n_elem == size else part(heads[name], heads_of[name], 0, n_elem)
        turned[name] = rotated(x, heads_of[name])
    whole = {}
    for name in "qk":
        start, end = (0, 0) if n_elem == size else (n_elem, size)  # Thunder writes an empty rest so
        rest = part(heads[name], heads_of[name], start, end)
        whole[name] = define.cat([turned[name], rest], 3)
    define.output(heads["v"], whole["q"], whole["k"])
