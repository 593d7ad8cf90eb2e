"""What became of each group: which goes on as which, which were joined, which were cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from segscope.checks import Structure
from segscope.compare.match import Unit
from segscope.model import Expr, SegmentedFusion


class Links(NamedTuple):
    """Group indices of the first side, with those of the second. Groups that are in none of it vanished or appeared."""

    pairs: dict[int, int]
    """The group that each goes on as."""
    merged: dict[int, list[int]]
    """Groups that went on in one (of the second side) that another goes on as."""
    split: dict[int, list[int]]
    """Groups (of the second side) that came from one that goes on as another."""

    def all(self) -> set[tuple[int, int]]:
        """Return every pair of groups of which the second has what became of the first, or of a part of it."""
        found = set(self.pairs.items())
        found |= {(source, target) for target, sources in self.merged.items() for source in sources}
        return found | {(source, target) for source, targets in self.split.items() for target in targets}


def link(
    before: SegmentedFusion, after: SegmentedFusion, structures: tuple[Structure, Structure], units: Sequence[Unit]
) -> Links:
    """Link the groups of two fusions.

    Groups that are the same in every detail go on as each other. Of the others, a group goes on as the one that has
    most of its expressions, if these are at least half of those of one of the two; where two want the same one, that
    with more of them in it has it. A group that is left went into another, or came from another, if at least half of
    its expressions did.
    """
    pairs = _same(*structures)
    taken = (set(pairs), set(pairs.values()))
    holders = (groups_of(before), groups_of(after))
    weights: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    numbers: dict[tuple[int, int], int] = defaultdict(int)
    sizes: tuple[dict[int, int], dict[int, int]] = (defaultdict(int), defaultdict(int))
    for unit in units:
        places = [holding(exprs, holder) for exprs, holder in zip(unit, holders, strict=True)]
        for found, size in zip(places, sizes, strict=True):
            for index in found:
                size[index] += 1
        sources, targets = (sorted(found - done) for found, done in zip(places, taken, strict=True))
        for source in sources:
            for target in targets:
                weights[source, target] += Fraction(1, len(sources) * len(targets))
                numbers[source, target] += 1

    def rank(pair: tuple[int, int]) -> tuple[Fraction, int, bool, tuple[int, int]]:
        source, target = pair
        other_scheduler = before.groups[source].scheduler != after.groups[target].scheduler
        return -weights[pair], sizes[0][source] + sizes[1][target], other_scheduler, pair

    ranked = sorted(weights, key=rank)
    for source, target in ranked:
        enough = 2 * numbers[source, target] >= min(sizes[0][source], sizes[1][target])
        if enough and source not in taken[0] and target not in taken[1]:
            pairs[source] = target
            taken[0].add(source)
            taken[1].add(target)
    merged: dict[int, list[int]] = defaultdict(list)
    split: dict[int, list[int]] = defaultdict(list)
    for source, others in _left(ranked, 0, taken[0]).items():
        into = [target for target in others if 2 * numbers[source, target] >= sizes[0][source]]
        if into:
            merged[min(into, key=lambda target: (-weights[source, target], len(merged.get(target, ()))))].append(source)
    for target, others in _left(ranked, 1, taken[1]).items():
        out_of = [source for source in others if 2 * numbers[source, target] >= sizes[1][target]]
        if out_of:
            split[min(out_of, key=lambda source: (-weights[source, target], len(split.get(source, ()))))].append(target)
    return Links(pairs, merged, split)


def _left(pairs: Sequence[tuple[int, int]], side: int, taken: set[int]) -> dict[int, list[int]]:
    """Return what the groups of one side that are not taken are paired with."""
    found: dict[int, list[int]] = defaultdict(list)
    for pair in pairs:
        if pair[side] not in taken:
            found[pair[side]].append(pair[1 - side])
    return dict(sorted(found.items()))


def groups_of(fusion: SegmentedFusion) -> dict[int, set[int]]:
    """Return for each expression, by its id, the indices of the groups that it is in."""
    found: dict[int, set[int]] = defaultdict(set)
    for group in fusion.groups:
        for number in group.expr_ids:
            found[number].add(group.index)
    return found


def holding(exprs: Sequence[Expr], holder: dict[int, set[int]]) -> set[int]:
    """Return the indices of the groups that have any of the expressions; ``holder`` is from ``groups_of``."""
    return {index for expr in exprs for index in holder[expr.id]}


def _same(before: Structure, after: Structure) -> dict[int, int]:
    waiting: dict[str, list[int]] = defaultdict(list)
    for index, digest in enumerate(after.groups):
        waiting[digest].append(index)
    return {index: waiting[digest].pop(0) for index, digest in enumerate(before.groups) if waiting.get(digest)}
