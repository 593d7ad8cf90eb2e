"""Colours by which nodes of two graphs can be compared, however the nodes are numbered."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

ROUNDS: Final = 8
"""The most rounds of refinement: a bound on the time."""


class Colours(NamedTuple):
    """Digests of the nodes: the same in every process, and for the same node under every numbering."""

    above: list[bytes]
    """Of a node's label and of all that leads to it. Nodes that are alike in this, and no others, have the same."""
    around: list[bytes]
    """Of all that the node leads to, too. Nodes that can change places have the same; others do only where more than
    ``ROUNDS`` rounds would be needed, or where colours tell nothing, as in graphs of much symmetry."""


def refine(labels: Sequence[str], reads: Sequence[Sequence[int]]) -> Colours:
    """Colour the nodes of an acyclic graph by their labels and by their place in it.

    ``reads[node]`` are the nodes that lead to a node, in an order that means something; one may stand there twice.
    A round goes down the graph and up again, and rounds follow until they tell no more nodes apart, ``ROUNDS`` at
    most: O((nodes + edges) log nodes). Nodes on a cycle and behind one are coloured by their labels alone.
    """
    users: list[list[tuple[int, int]]] = [[] for _ in reads]
    for user, sources in enumerate(reads):
        for place, source in enumerate(sources):
            users[source].append((place, user))
    order = _order(reads, users)
    colours = [digest([label.encode()]) for label in labels]
    above: list[bytes] = []
    told = 0
    for _ in range(ROUNDS):
        colours = colours.copy()
        for node in order:
            colours[node] = digest([colours[node], *[colours[source] for source in reads[node]]])
        above = above or colours
        colours = colours.copy()
        for node in reversed(order):
            below = sorted([colours[user] + place.to_bytes(4, "little") for place, user in users[node]])
            colours[node] = digest([colours[node], *below])
        before, told = told, len(set(colours))
        if told in (before, len(colours)):
            break
    return Colours(above, colours)


def digest(parts: Iterable[bytes]) -> bytes:
    """Return the digest of some bytes, one behind the other: 16 bytes, the same in every process."""
    return blake2b(b"".join(parts), digest_size=16).digest()


def _order(reads: Sequence[Sequence[int]], users: Sequence[Sequence[tuple[int, int]]]) -> list[int]:
    """Return the nodes that are on no cycle and behind none, each behind those that it reads."""
    waiting = [len(sources) for sources in reads]
    order = [node for node, count in enumerate(waiting) if not count]
    for node in order:
        for _, user in users[node]:
            waiting[user] -= 1
            if not waiting[user]:
                order.append(user)
    return order
