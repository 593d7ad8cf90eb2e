"""The rounds: in each, groups find a partner, and then all pairs are merged.

That only neighbours of adjacent levels merge, and none beside a merged one, keeps the graph without cycles (theorem 4.2
of Herrmann et al. 2019, Multilevel Algorithms for Acyclic Partitioning of Directed Acyclic Graphs). Source:
``findSegments``, ``getMergeCandidates`` and ``PreferredMergeCandidatePicker`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from segscope.segmenter.loop.dependencies import sorted_by_edges
from segscope.segmenter.loop.state import Edge, Group, State

_LOOKUPS: Final = frozenset({"select", "index_select", "gather"})


def merge_in_rounds(state: State) -> None:
    """Go on until a round finds no pair."""
    while True:
        state.round += 1
        _reset(state)
        preferred = [(group, other) for group in state.groups if (other := _preferred(state, group))]
        pairs = [pair for group, other in preferred if not other.partner and (pair := _pair(state, group, [other]))]
        if not pairs and state.policy.whole_operand_sets and _merge_an_operand_set(state):
            continue
        if not pairs:
            for group in state.policy.order(tuple(state.groups), state.round):
                if pair := _pair(state, group, candidates(state, group)):
                    pairs.append(pair)
                    if state.policy.one_pair_a_round:
                        break
        if not pairs:
            return
        for one, other in pairs:
            state.join_pair(one, other)


def _reset(state: State) -> None:
    """Forget partners, and give each group its level: the edges on the longest path to it."""
    for group in sorted_by_edges(state.groups):
        group.partner = None
        group.level = max((edge.source.level + 1 for edge in group.from_edges), default=0)


def _pair(state: State, group: Group, others: Iterable[Group]) -> tuple[Group, Group] | None:
    """Make partners of a group and the first that is accepted with it."""
    if group.partner or not group.nodes:
        return None
    for other in others:
        if state.accepts([group, other], "rounds"):
            group.partner, other.partner = other, group
            return group, other
    return None


def neighbours(state: State, group: Group) -> list[Group]:
    """Return makers and readers, once for each value; not over outputs of the fusion."""
    before = [e.source for e in group.from_edges if e.value not in state.outputs and e.source.nodes]
    return before + [e.target for e in group.to_edges if e.value not in state.outputs]


def candidates(state: State, group: Group) -> list[Group]:
    """Return the neighbours that a group may merge with in this round."""
    if group.partner or not group.nodes:
        return []
    near = neighbours(state, group)
    if any(_has_partner_near(other, group) for other in near):
        return []
    found = [
        other
        for other in near
        if abs(other.level - group.level) <= 1
        and not any(
            _has_partner_near(further, group) or _has_partner_near(further, other)
            for further in neighbours(state, other)
            if further is not other
        )
    ]
    return list(state.policy.candidates(group, found))


def _has_partner_near(other: Group, group: Group) -> bool:
    """Say whether a group has a partner, and one of the two is within a level of another group."""
    partner = other.partner
    return partner is not None and min(abs(other.level - group.level), abs(partner.level - group.level)) <= 1


def _preferred(state: State, group: Group) -> Group | None:
    """Return the neighbour that a group is offered with before all others, if it has one."""
    return _table_of_lookup(state, group) or _reader_of_pad(state, group)


def _table_of_lookup(state: State, group: Group) -> Group | None:
    """Return what makes the table from which a single expression picks one element along a dimension."""
    if len(group.nodes) != 1 or state.whole.exprs[group.nodes[0]].kind not in _LOOKUPS:
        return None
    expr = state.whole.exprs[group.nodes[0]]
    table = expr.tensor_inputs[0]
    if expr.kind != "select":
        dim = expr.attributes.get("dim")
        domain = state.whole.tensor(expr.outputs[0]).domain
        if not isinstance(dim, int) or dim >= len(domain) or domain[dim].iter_type != "b":
            return None
    return _candidate(state, group, (edge for edge in group.from_edges if edge.value == table))


def _reader_of_pad(state: State, group: Group) -> Group | None:
    """Return what reads a pad of which the group does not compute the operand."""
    if "pads_prefer_readers" not in state.version:
        return None
    entering = {edge.value for edge in group.from_edges}
    for node in group.nodes:
        expr = state.whole.exprs[node]
        if expr.kind == "pad" and expr.tensor_inputs[0] in entering:
            found = _candidate(state, group, (edge for edge in group.to_edges if edge.value == expr.outputs[0]))
            if found:
                return found
    return None


def _candidate(state: State, group: Group, edges: Iterable[Edge]) -> Group | None:
    """Return the first group at the other end of an edge that may merge in this round."""
    allowed: list[Group] | None = None
    for edge in edges:
        other = edge.source if edge.target is group else edge.target
        allowed = candidates(state, group) if allowed is None else allowed
        if other in allowed:
            return other
    return None


def _merge_an_operand_set(state: State) -> bool:
    """Merge the first group that is accepted with all the groups whose values it reads."""
    for group in state.policy.order(tuple(state.groups), state.round):
        makers = [edge.source for edge in group.from_edges if edge.source.nodes and edge.value not in state.outputs]
        parts = [*dict.fromkeys(makers), group]
        if group.nodes and makers and _closes_no_cycle(parts) and state.accepts(parts, "operand_sets"):
            state.join_set(parts)
            return True
    return False


def _closes_no_cycle(parts: list[Group]) -> bool:
    """Say whether no path leaves the groups and comes back."""
    seen: set[Group] = set()
    left = [edge.target for group in parts for edge in group.to_edges if edge.target not in parts]
    while left:
        group = left.pop()
        if group not in seen:
            seen.add(group)
            if any(edge.target in parts for edge in group.to_edges):
                return False
            left += [edge.target for edge in group.to_edges]
    return True
