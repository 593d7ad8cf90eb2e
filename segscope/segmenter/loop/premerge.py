"""Merges before the rounds: a cat with its pads, and up-cast, operations and down-cast.

Source: ``MergeCatWithInputPads`` and ``MergeUpAndDownCast`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from collections import deque

from segscope.explain.program import RebuildError
from segscope.segmenter.loop.state import Group, State


def merge_cats_with_pads(state: State) -> None:
    """Offer each cat of pads that nothing else reads together with these."""
    found = [parts for group in state.groups if (parts := _pads_and_cat(state, group))]
    for parts in found:
        if state.accepts(parts, "cat_with_pads"):
            state.join_set(parts)


def _pads_and_cat(state: State, group: Group) -> list[Group]:
    whole = state.whole
    if len(group.nodes) != 1 or whole.exprs[group.nodes[0]].kind != "cat":
        return []
    parts = []
    for name in whole.reads[group.nodes[0]]:
        pad = whole.made_by.get(name)
        if pad is None or not _is_pad_of(state, pad, group.nodes[0]):
            return []
        alone = (e.source for e in group.from_edges if e.source.nodes == [pad] and len(e.source.to_edges) == 1)
        part = next(alone, None)
        if part is None:
            return []
        parts.append(part)
    return [*parts, group]


def _is_pad_of(state: State, pad: int, cat: int) -> bool:
    """Say whether a pad widens just the dimension of the cat. Its value is not printed: it is taken for zero."""
    expr, known = state.whole.exprs[pad], state.whole.known
    if expr.kind != "pad":
        return False
    try:
        widths = known.numbers(expr.attributes["widths"], expr.outputs[0])
        dim = known.number(state.whole.exprs[cat].attributes["dim"], expr.outputs[0])
    except RebuildError:
        return True
    return [at for at in range(len(widths) // 2) if any(widths[2 * at : 2 * at + 2])] == [dim]


def merge_cast_sequences(state: State) -> None:
    """Offer what hangs together from each up-cast on; begin again after each merge."""
    merged = True
    while merged:
        merged = False
        seen: set[Group] = set()
        for group in state.groups:
            if _direction(state, group) <= 0 or group in seen:
                continue
            parts = _sequence(state, group)
            if len(parts) < 2:
                continue
            seen.update(parts)
            if state.accepts(parts, "cast_sequences"):
                state.join_set(parts)
                merged = True
                break


def _sequence(state: State, first: Group) -> list[Group]:
    """Collect groups breadth first: down to the only reader, not past a down-cast; up to makers that it alone reads."""
    found: list[Group] = []
    left = deque([first])
    while left:
        group = left.popleft()
        if group in found or not group.nodes:
            continue
        found.append(group)
        direction = _direction(state, group)
        if direction >= 0 and len(group.to_edges) == 1:
            left.append(group.to_edges[0].target)
        if direction <= 0:
            left += [edge.source for edge in group.from_edges if len(edge.source.to_edges) == 1]
    return found


def _direction(state: State, group: Group) -> int:
    return state.whole.cast_direction(group.nodes[0]) if len(group.nodes) == 1 else 0
