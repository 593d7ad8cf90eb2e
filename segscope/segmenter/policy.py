"""The choices that nvFuser's segmenter makes, each of which can be made in another way."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from segscope.segmenter.loop.state import Group

Order = Callable[[Sequence["Group"], int], Iterable["Group"]]
"""Takes the groups as they stand and the number of the round; returns the order in which they look for a partner."""

Candidates = Callable[["Group", Sequence["Group"]], Iterable["Group"]]
"""Takes a group and the neighbours that it may merge with, producers first, and returns those to try, in order."""

Place = Callable[[list["Group"], "Group"], None]
"""Puts a group that was just made into the list of groups."""


def as_they_stand(groups: Sequence[Group], round_: int) -> Iterable[Group]:
    """Keep the order: that of the expressions, merged groups last."""
    return groups


def reversed_order(groups: Sequence[Group], round_: int) -> Iterable[Group]:
    """Begin with the last."""
    return reversed(groups)


def deepest_first(groups: Sequence[Group], round_: int) -> Iterable[Group]:
    """Begin with what is farthest from the inputs."""
    return sorted(groups, key=lambda group: -group.level)


def shallowest_first(groups: Sequence[Group], round_: int) -> Iterable[Group]:
    """Begin with what is nearest to the inputs."""
    return sorted(groups, key=lambda group: group.level)


def smallest_first(groups: Sequence[Group], round_: int) -> Iterable[Group]:
    """Begin with the groups of fewest expressions."""
    return sorted(groups, key=lambda group: len(group.nodes))


def largest_first(groups: Sequence[Group], round_: int) -> Iterable[Group]:
    """Begin with the groups of most expressions."""
    return sorted(groups, key=lambda group: -len(group.nodes))


@dataclass(frozen=True)
class Shuffled:
    """A random order in each round; the same seed gives the same orders."""

    seed: int

    def __call__(self, groups: Sequence[Group], round_: int) -> Iterable[Group]:
        """Shuffle."""
        return random.Random(f"{self.seed}:{round_}").sample(groups, len(groups))


def as_found(group: Group, neighbours: Sequence[Group]) -> Iterable[Group]:
    """Try producers before consumers."""
    return neighbours


def last_found_first(group: Group, neighbours: Sequence[Group]) -> Iterable[Group]:
    """Try consumers before producers, the last edge first."""
    return reversed(neighbours)


def last(groups: list[Group], made: Group) -> None:
    """Put a new group behind all others."""
    groups.append(made)


def front(groups: list[Group], made: Group) -> None:
    """Put a new group before all others."""
    groups.insert(0, made)


@dataclass(frozen=True)
class Policy:
    """How the segmenter chooses; the defaults are nvFuser's own choices."""

    order: Order = as_they_stand
    """In which order groups look for a partner, round by round."""
    candidates: Candidates = as_found
    """Which neighbours a group tries, in order."""
    place: Place = last
    """Where a new group goes."""
    whole_operand_sets: bool = False
    """Whether a round first tries to merge a group with all groups whose values it reads at once."""
    one_pair_a_round: bool = False
    """Whether a round merges the first pair that is accepted, and no more."""
    casts_first: bool = False
    """Whether up-cast, operations and down-cast are merged first in versions that do not do so."""
    boundary: bool = True
    """Whether a slice or pad must read an input of its kernel."""
    refuse: frozenset[frozenset[str]] = frozenset()
    """Merges that are not made: the tensors that the merged group would define, no more and no fewer.

    Private copies of up-casts and squeezes go by their own names (``SetTrial.tensors``) or those of the originals."""
    force: frozenset[frozenset[str]] = frozenset()
    """Merges that are made where they are offered, whatever the schedulers say; named in the same way."""
