"""Which kernels of several executors do the same work: they share a colour and a letter in a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final

from segscope.compare.executors.region import Kernel
from segscope.graph import components, successors
from segscope.vocabulary import METADATA_KINDS

Work = frozenset[tuple[str, int | None]]
"""What is done for which result; None for the result where that is not known."""

_Group = frozenset[Work]
_Links = dict[frozenset[_Group], Fraction]

ENOUGH: Final = Fraction(1, 2)
"""Kernels that differ share a colour where more than this part of their work is in both."""


def colours(columns: Sequence[Sequence[Kernel]]) -> tuple[tuple[int, ...], ...]:
    """Return a number for each kernel of each column: the same for kernels that do the same work.

    Those whose work is equal always share a number. Others do where they stand in different columns and more than
    ENOUGH of what either does is done by both (Jaccard index); what is most alike is joined first, all in a group are
    alike, and a kernel that is as much like two others that must stay apart is joined with neither. So the order of
    columns and of kernels changes the numbers, which count from 0 as they appear, but not who shares one.
    """
    works = [[work_of(kernel) for kernel in column] for column in columns]
    where: defaultdict[Work, set[int]] = defaultdict(set)
    for place, column in enumerate(works):
        for work in column:
            where[work].add(place)
    home = {work: group for group in _joined(where) for work in group}
    numbers: dict[_Group, int] = {}
    return tuple(tuple(numbers.setdefault(home[work], len(numbers)) for work in column) for column in works)


def work_of(kernel: Kernel) -> Work:
    """Return a kernel's work without metadata operations; of one that has no others, the copies that it makes.

    What such a kernel reads may be a view that others share. It copies for the results that all its operations are for.
    """
    pairs: set[tuple[str, int | None]] = set(kernel.work) or {(kind, None) for kind in kernel.kinds}
    telling = {(kind, result) for kind, result in pairs if kind not in METADATA_KINDS}
    if telling:
        return frozenset(telling)
    results: defaultdict[str, set[int | None]] = defaultdict(set)
    for kind, result in pairs:
        results[kind].add(result)
    everywhere = set.intersection(*results.values()) if results else set()
    return frozenset(("copy", result) for result in everywhere or {result for _, result in pairs})


def _joined(where: Mapping[Work, set[int]]) -> set[_Group]:
    """Return the works in groups; ``where`` says in which columns each is."""
    groups = {frozenset((work,)) for work in where}
    links = {
        frozenset((frozenset((a,)), frozenset((b,)))): alike
        for a, b in combinations(where, 2)
        if where[a].isdisjoint(where[b]) and (alike := _alike(a, b)) > ENOUGH
    }
    while links:
        most = max(links.values())
        tied = {pair for pair, alike in links.items() if alike == most}
        for together in _hanging_together(tied):
            if all(frozenset(pair) in links for pair in combinations(together, 2)):
                groups -= together
                links = _relinked(links, together, groups)
                groups.add(_union(together))
            else:
                links = {pair: alike for pair, alike in links.items() if pair not in tied or not pair <= together}
    return groups


def _alike(a: Work, b: Work) -> Fraction:
    return Fraction(len(a & b), len(a | b)) if a or b else Fraction(1)


def _hanging_together(pairs: Iterable[frozenset[_Group]]) -> list[frozenset[_Group]]:
    edges = [tuple(pair) for pair in pairs]
    groups = list(dict.fromkeys(group for edge in edges for group in edge))
    number = {group: n for n, group in enumerate(groups)}
    both = [(number[a], number[b]) for edge in edges for a, b in (edge, edge[::-1])]
    return [frozenset(groups[n] for n in found) for found in components(successors(len(groups), both))]


def _relinked(links: _Links, together: frozenset[_Group], others: Iterable[_Group]) -> _Links:
    """Return the links after some groups became one, which is as much like another as the least alike of them."""
    kept = {pair: alike for pair, alike in links.items() if pair.isdisjoint(together)}
    for other in others:
        found = [links[pair] for one in together if (pair := frozenset((one, other))) in links]
        if len(found) == len(together):
            kept[frozenset((_union(together), other))] = min(found)
    return kept


def _union(groups: Iterable[_Group]) -> _Group:
    return frozenset(work for group in groups for work in group)
