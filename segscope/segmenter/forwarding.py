"""Chains of unary operations behind an input of the fusion: set aside at first, given to each reader at the end.

Source: ``shouldForward`` and ``forwardInputs`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from segscope.segmenter.versions import Version
from segscope.segmenter.whole import Whole

_UNARY: Final = frozenset({"unary", "cast"})


class Forwarding(NamedTuple):
    """What the segmenter takes for inputs of the fusion."""

    inputs: tuple[str, ...]
    """In order: inputs of the fusion, tensors from nothing, then the ends of chains, in place of their beginnings."""
    set_aside: frozenset[int]
    """The nodes of all chains."""


def forwarded(whole: Whole, version: Version) -> Forwarding:
    """Find the chains: each value has one reader, which is unary and makes no output of the fusion."""
    made = []
    if "forward_full" in version:
        full = (node for node, expr in enumerate(whole.exprs) if expr.kind == "full")
        made = [node for node in full if whole.writes[node][0] not in whole.outputs]
    beginnings = [*whole.inputs, *(whole.writes[node][0] for node in made)]
    left = deque(node for name in beginnings if (node := _next(whole, version, name)) is not None)
    set_aside, ends = [*made], []
    while left:
        node = left.popleft()
        following = _next(whole, version, whole.writes[node][0])
        if following is None:
            ends.append(whole.writes[node][0])
        else:
            left.append(following)
        set_aside.append(node)
    behind = {name for end in ends for name in _reached_backwards(whole, end, beginnings)}
    inputs = [name for name in beginnings if name not in behind]
    return Forwarding(tuple(dict.fromkeys((*inputs, *ends))), frozenset(set_aside))


def chain(whole: Whole, end: str) -> tuple[int, ...]:
    """Return the nodes that a forwarded input is made of."""
    nodes, left = set(), [end]
    while left:
        node = whole.made_by.get(left.pop())
        if node is not None and node not in nodes:
            nodes.add(node)
            left += whole.reads[node]
    return tuple(sorted(nodes))


def _next(whole: Whole, version: Version, name: str) -> int | None:
    readers = whole.read_by.get(name, ())
    if len(readers) != 1 or whole.exprs[readers[0]].kind not in _UNARY:
        return None
    (output,) = whole.writes[readers[0]]
    if output in whole.outputs:
        return None
    into_hint = any(whole.exprs[node].kind == "segmenter_set" for node in whole.read_by.get(output, ()))
    return None if into_hint and "hints_stop_forwarding" in version else readers[0]


def _reached_backwards(whole: Whole, end: str, beginnings: list[str]) -> set[str]:
    found, left = set(), [end]
    while left:
        name = left.pop()
        if name in beginnings:
            found.add(name)
        elif name in whole.made_by:
            left += whole.reads[whole.made_by[name]]
    return found
