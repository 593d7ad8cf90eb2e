"""LitGPT's QKV split and rotary position embedding, through Thunder and nvFuser.

Runs inside a toolchain (see worker.py). Options: ``n_head``, ``n_query_groups``, ``head_size``, ``rope_n_elem``,
``batch``, ``sequence_length``, ``dtype``, ``direction``, ``bookend``.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch


class Rope(torch.nn.Module):
    """Split a fused QKV projection into heads and rotate the first ``rope_n_elem`` elements of each Q and K head.

    Takes ``qkv`` of shape (batch, T, (n_head + 2 * n_query_groups) * head_size), ``cos`` and ``sin`` of shape
    (T, rope_n_elem); returns ``q``, ``k``, ``v`` of shape (batch, n_head, T, head_size), where k and v keep one head if
    there is one query group.
    """

    def __init__(self, n_head: int, n_query_groups: int, head_size: int, rope_n_elem: int) -> None:
        super().__init__()
        self.n_head = n_head
        self.n_query_groups = n_query_groups
        self.head_size = head_size
        self.rope_n_elem = rope_n_elem

    def forward(
        self, qkv: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return q, k and v, with q and k rotated."""
        batch, length, _ = qkv.size()
        groups, size, n_elem = self.n_query_groups, self.head_size, self.rope_n_elem
        q_per_kv = self.n_head // groups
        qkv = qkv.view(batch, length, groups, q_per_kv + 2, size).permute(0, 2, 3, 1, 4)
        q, k, v = qkv.split((q_per_kv, 1, 1), dim=2)
        if groups != self.n_head and groups != 1:
            k = k.expand(batch, groups, q_per_kv, length, size)
            v = v.expand(batch, groups, q_per_kv, length, size)
        q = q.reshape(batch, -1, length, size)
        k = k.reshape(batch, -1, length, size)
        v = v.reshape(batch, -1, length, size)
        q_rotated = rotate(q[..., :n_elem], cos, sin)
        k_rotated = rotate(k[..., :n_elem], cos, sin)
        q = torch.cat((q_rotated, q[..., n_elem:]), dim=-1)
        k = torch.cat((k_rotated, k[..., n_elem:]), dim=-1)
        return q, k, v


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Apply the rotary embedding to ``x`` of shape (batch, heads, T, n_elem)."""
    half = x.size(-1) // 2
    x1, x2 = x[..., :half], x[..., half:]
    rotated = torch.cat((-x2, x1), dim=-1)
    return ((x * cos) + (rotated * sin)).to(dtype=x.dtype)


def subject(options: dict[str, Any], with_grad: bool) -> tuple[Rope, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Return the module and its arguments, of which ``qkv`` may ask for a gradient; their values are not defined."""
    n_head, groups, size, n_elem = (options[name] for name in ("n_head", "n_query_groups", "head_size", "rope_n_elem"))
    form: dict[str, Any] = {"device": "cuda", "dtype": getattr(torch, options["dtype"])}
    length = options["sequence_length"]
    qkv = torch.empty(options["batch"], length, (n_head + 2 * groups) * size, requires_grad=with_grad, **form)
    cos = torch.empty(length, n_elem, **form)
    return Rope(n_head, groups, size, n_elem), (qkv, cos, torch.empty_like(cos))


def phases(options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the forward pass and, where the direction asks for it, the backward pass of ``q.sum() + k.sum()``."""
    import thunder
    from thunder.executors.nvfuserex import nvfuserex

    with_grad = options["direction"] != "forward"
    rope, (qkv, cos, sin) = subject(options, with_grad)
    module = thunder.jit(rope, executors=[nvfuserex], nv_enable_bookend=options["bookend"])
    results: list[torch.Tensor] = []
    yield "forward", lambda: results.extend(module(qkv, cos, sin))
    if with_grad:
        q, k, _ = results
        yield "backward", lambda: (q.sum() + k.sum()).backward()
