"""After the rounds: pairs one at a time, over outputs of the fusion too, and then the forwarded inputs.

Source: ``finalMerge`` and ``resolveNonscalarForwardedInput`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from segscope.segmenter.forwarding import chain
from segscope.segmenter.loop.dependencies import Dependencies
from segscope.segmenter.loop.state import Group, State, connect


def merge_pairs(state: State) -> None:
    """Merge the first producer and consumer that are accepted, and begin again."""
    dependencies = Dependencies(state.groups)
    while pair := _first_pair(state, dependencies):
        dependencies.merged(pair, state.join_pair(*pair))


def _first_pair(state: State, dependencies: Dependencies) -> tuple[Group, Group] | None:
    """Find a pair; no consumer that depends on another consumer, over which a path would lead back.

    nvFuser goes over a hash map of the consumers, in which the one that came last mostly comes first.
    """
    for group in state.groups:
        if not group.nodes:
            continue
        consumers = list(dict.fromkeys(edge.target for edge in group.to_edges))[::-1]
        for consumer in consumers:
            if not any(dependencies.depends(consumer, other) for other in consumers) and state.accepts(
                [group, consumer], "final"
            ):
                return group, consumer
    return None


def unforward(state: State) -> None:
    """Give each reader of a forwarded input its own chain: in its group where that is accepted, else as a group."""
    whole = state.whole
    for name in state.inputs:
        if name in whole.inputs:
            continue
        stand_in = state.standing_for[name]
        nodes = chain(whole, name)
        given = list(dict.fromkeys(read for node in nodes for read in whole.reads[node] if read in whole.inputs))
        for reader in dict.fromkeys(edge.target for edge in stand_in.to_edges):
            group = Group(nodes, given)
            state.groups.append(group)
            for edge in [edge for edge in reader.from_edges if edge.source is stand_in]:
                connect(group, reader, name)
                reader.from_edges.remove(edge)
                stand_in.to_edges.remove(edge)
            reader.given = [value for value in reader.given if value != name]
            if state.accepts([group, reader], "unforward"):
                state.join_pair(group, reader)
            else:
                group.scheduler = "none"
