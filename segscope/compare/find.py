"""The changes between two fusions, from what their expressions and groups became."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import NamedTuple

from segscope.checks import Structure
from segscope.compare.changes import (
    Appeared,
    Change,
    Merged,
    Moved,
    Names,
    Operation,
    SchedulerChanged,
    Split,
    Vanished,
    places,
)
from segscope.compare.groups import Links, groups_of, holding, link
from segscope.compare.match import Unit, match
from segscope.model import Expr, SegmentedFusion


class Found(NamedTuple):
    """What became of the groups of a fusion."""

    links: Links
    changes: tuple[Change, ...]


def find(before: SegmentedFusion, after: SegmentedFusion, structures: tuple[Structure, Structure]) -> Found:
    """Return the links between the groups of two fusions, and what changed, by kind and in the order of the groups."""
    units = match(before, after)
    links = link(before, after, structures, units)
    parts = (_groups(before, after, links, units), _expressions(before, after, links, units))
    return Found(links, tuple(chain.from_iterable(parts)))


def _groups(before: SegmentedFusion, after: SegmentedFusion, links: Links, units: list[Unit]) -> Iterator[Change]:
    names = _Tensors(units)
    onto = {target: source for source, target in links.pairs.items()}
    merged = {target: {onto[target], *sources} for target, sources in links.merged.items()}
    split = {source: {links.pairs[source], *targets} for source, targets in links.split.items()}
    crossed, crossing = ({edge.value for edge in fusion.edges} for fusion in (before, after))
    for target, sources in sorted(merged.items(), key=lambda item: min(item[1])):
        between = (edge.value for edge in before.edges if {edge.source, edge.target} <= sources)
        tensors = (names.of_before(name) for name in dict.fromkeys(between))
        inside = tuple(both for both in tensors if crossing.isdisjoint(both.after))
        yield Merged(before=places(before, sources), after=places(after, [target]), tensors=inside)
    for source, targets in sorted(split.items()):
        between = (edge.value for edge in after.edges if {edge.source, edge.target} <= targets)
        tensors = (names.of_after(name) for name in dict.fromkeys(between))
        inside = tuple(both for both in tensors if crossed.isdisjoint(both.before))
        yield Split(before=places(before, [source]), after=places(after, targets), tensors=inside)
    for source, target in sorted(links.pairs.items()):
        other_scheduler = before.groups[source].scheduler != after.groups[target].scheduler
        if other_scheduler and source not in split and target not in merged:
            yield SchedulerChanged(before=places(before, [source]), after=places(after, [target]))


def _expressions(before: SegmentedFusion, after: SegmentedFusion, links: Links, units: list[Unit]) -> Iterator[Change]:
    linked = links.all()
    holders = (groups_of(before), groups_of(after))
    lost = set(range(len(before.groups))) - {source for source, _ in linked}
    new = set(range(len(after.groups))) - {target for _, target in linked}
    moved: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Operation]] = defaultdict(list)
    vanished: dict[int, list[Operation]] = {index: [] for index in lost}
    appeared: dict[int, list[Operation]] = {index: [] for index in new}
    for unit in units:
        sources, targets = (tuple(sorted(holding(exprs, h))) for exprs, h in zip(unit, holders, strict=True))
        left = tuple(source for source in sources if not any((source, target) in linked for target in targets))
        reached = tuple(target for target in targets if not any((source, target) in linked for source in sources))
        if left and reached:
            moved[left, reached].append(_operation(unit, holders, left, reached))
            continue
        for source in left:
            vanished.setdefault(source, []).append(_operation(unit, holders, (source,), targets))
        for target in reached:
            appeared.setdefault(target, []).append(_operation(unit, holders, sources, (target,)))
    for (left, reached), found in sorted(moved.items()):
        yield Moved(before=places(before, left), after=places(after, reached), operations=tuple(found))
    for index, found in sorted(appeared.items()):
        what = {"scope": "group" if index in new else "expressions", "operations": tuple(found)}
        yield Appeared(before=(), after=places(after, [index]), **what)
    for index, found in sorted(vanished.items()):
        what = {"scope": "group" if index in lost else "expressions", "operations": tuple(found)}
        yield Vanished(before=places(before, [index]), after=(), **what)


def _operation(
    unit: Unit,
    holders: tuple[dict[int, set[int]], dict[int, set[int]]],
    sources: Iterable[int],
    targets: Iterable[int],
) -> Operation:
    """Return what a unit is in some groups of each side."""
    before, after = (
        [expr for expr in exprs if not holder[expr.id].isdisjoint(groups)]
        for exprs, holder, groups in zip(unit, holders, (sources, targets), strict=True)
    )
    return Operation(
        word=(before or after)[0].operation,
        before=tuple(expr.id for expr in before),
        after=tuple(expr.id for expr in after),
        tensors=Names(before=_made(before), after=_made(after)),
    )


def _made(exprs: Iterable[Expr]) -> tuple[str, ...]:
    return tuple(name for expr in exprs for name in expr.outputs)


class _Tensors:
    """What the tensors of one side are called on the other."""

    def __init__(self, units: list[Unit]) -> None:
        self.known: tuple[dict[str, Names], dict[str, Names]] = ({}, {})
        for unit in units:
            made = [list(zip_longest(*(expr.outputs for expr in exprs))) for exprs in unit]
            for outputs in zip_longest(*made, fillvalue=()):
                before, after = (tuple(name for name in names if name) for names in outputs)
                both = Names(before=before, after=after)
                self.known[0].update(dict.fromkeys(before, both))
                self.known[1].update(dict.fromkeys(after, both))

    def of_before(self, name: str) -> Names:
        return self.known[0].get(name) or Names(before=(name,), after=())

    def of_after(self, name: str) -> Names:
        return self.known[1].get(name) or Names(before=(), after=(name,))
