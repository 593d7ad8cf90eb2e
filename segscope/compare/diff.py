"""Two segmentations side by side, and what differs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import chain, product
from typing import NamedTuple

from segscope.checks import Structure, structure
from segscope.compare.changes import KINDS, Appeared, Change, Moved, Vanished, places
from segscope.compare.find import find
from segscope.compare.match import match, shared
from segscope.model import Capture, SegmentedFusion
from segscope.model.base import Model
from segscope.render.words import capture_name, count


class Side(Model):
    """How many groups one side has, over all its fusions."""

    source: str
    """``Capture.source``; empty for a fusion that was compared without its capture."""
    name: str
    """What a title calls it: toolchain and configuration of what segscope ran, else the source, or the fusion."""
    groups: int
    """All groups."""
    kernel_groups: int
    """Those that launch a kernel."""
    schedulers: dict[str, int]
    """How many groups each scheduler has, most first, then by name."""


class FusionDiff(Model):
    """A fusion of each side; one is missing where a fusion appeared or vanished."""

    before: SegmentedFusion | None
    """None where it appeared."""
    after: SegmentedFusion | None
    """None where it vanished."""
    same_computation: bool
    """Whether both compute the same (``Structure.computation``), however they are cut."""
    links: tuple[tuple[int, int], ...]
    """Group indices of the first side, each with one of the second that has what became of the group, or of a part."""
    changes: tuple[Change, ...]
    """In the order of ``KINDS``, then of the groups."""

    @property
    def complete(self) -> bool:
        """Whether the dumps of both are whole; of half a dump, what is missing counts as not there."""
        return all(fusion.complete for fusion in (self.before, self.after) if fusion)

    @property
    def is_same(self) -> bool:
        """Whether both compute the same, and are cut in the same way, but for numbers and order.

        Never for half a dump.
        """
        return self.complete and self.same_computation and not self.changes


class Diff(Model):
    """What differs between two captures or fusions."""

    before: Side
    """The first side."""
    after: Side
    """The second side."""
    fusions: tuple[FusionDiff, ...]
    """The fusions that were compared with each other, in the order of the first side; then those that appeared."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all fusions."""
        return tuple(change for fusion in self.fusions for change in fusion.changes)

    @property
    def complete(self) -> bool:
        """Whether the dumps of all fusions are whole; of half a dump, what is missing counts as not there."""
        return all(fusion.complete for fusion in self.fusions)

    @property
    def is_same(self) -> bool:
        """Whether all fusions compute the same, and are cut in the same way, but for numbers and order.

        Never for half a dump.
        """
        return all(fusion.is_same for fusion in self.fusions)

    @property
    def counts(self) -> dict[str, int]:
        """How many changes there are of each kind, in the order of ``KINDS``; of moves, how many expressions moved."""
        found: Counter[str] = Counter()
        for change in self.changes:
            found[change.kind] += len(change.operations) if isinstance(change, Moved) else 1
        return {kind: found[kind] for kind in KINDS if kind in found}

    def __str__(self) -> str:
        parts = [f"{count(self.before.kernel_groups, 'kernel group')} -> {self.after.kernel_groups}"]
        if self.changes:
            parts.append(", ".join(f"{number} {kind}" for kind, number in self.counts.items()))
        if any(each.before and each.after and not each.same_computation for each in self.fusions):
            parts.append("what they compute differs in detail")
        if not self.complete:
            parts.append("a dump is incomplete, and this is of what is there")
        return "; ".join(parts if len(parts) > 1 else [*parts, "the same"])

    def __repr__(self) -> str:
        return f"<Diff {self}>"

    def _repr_mimebundle_(self, include: Collection[str] | None = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import diff_mimebundle

        return diff_mimebundle(self, include)


def diff(before: Capture | SegmentedFusion, after: Capture | SegmentedFusion) -> Diff:
    """Say how the groups of the second came from those of the first.

    Groups are compared by what they compute: names, ids and order are not looked at, nor are scalars and edges, which
    follow from what groups hold. Of captures, the fusions that compute the same are compared with each other, in their
    order, and then, of those that are left, the most alike: those that have at least half of their expressions in
    common. The rest appeared or vanished. Where each side has one fusion, these two are compared.

    ``print(found)`` says it in a line; a change says it by ``explain()``. Of half a dump, see ``Diff.complete``.
    """
    sides = [[side] if isinstance(side, SegmentedFusion) else side.fusions for side in (before, after)]
    known = [[_Known(fusion, structure(fusion)) for fusion in fusions] for fusions in sides]
    return Diff(
        before=_side(before, sides[0]),
        after=_side(after, sides[1]),
        fusions=tuple(_compared(one, other) for one, other in _pairs(*known)),
    )


class _Known(NamedTuple):
    fusion: SegmentedFusion
    structure: Structure


def _pairs(before: Sequence[_Known], after: Sequence[_Known]) -> list[tuple[_Known | None, _Known | None]]:
    """Return the fusions to compare with each other."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, known in enumerate(after):
        waiting[known.structure.computation].append(place)
    found = {
        place: waiting[one.structure.computation].pop(0)
        for place, one in enumerate(before)
        if waiting.get(one.structure.computation)
    }
    left = [place for place in range(len(before)) if place not in found]
    others = sorted(chain.from_iterable(waiting.values()))
    found |= {0: 0} if len(before) == len(after) == 1 else _most_alike(before, left, after, others)
    pairs = [(one, after[found[place]] if place in found else None) for place, one in enumerate(before)]
    return [*pairs, *((None, after[other]) for other in others if other not in found.values())]


def _most_alike(
    before: Sequence[_Known], left: Sequence[int], after: Sequence[_Known], others: Sequence[int]
) -> dict[int, int]:
    """Pair those that are left by what they have in common: most expressions, and at least half of those of both."""
    known: dict[tuple[str, str], Fraction] = {}
    alike: dict[tuple[int, int], Fraction] = {}
    for place, other in product(left, others):
        one, another = before[place], after[other]
        computations = (one.structure.computation, another.structure.computation)
        if computations not in known:
            known[computations] = shared(match(one.fusion, another.fusion))
        if 2 * known[computations] >= 1:
            alike[place, other] = known[computations]
    found: dict[int, int] = {}
    for place, other in sorted(alike, key=lambda pair: (-alike[pair], pair)):
        if place not in found and other not in found.values():
            found[place] = other
    return found


def _compared(before: _Known | None, after: _Known | None) -> FusionDiff:
    if before and after:
        found = find(before.fusion, after.fusion, (before.structure, after.structure))
        return FusionDiff(
            before=before.fusion,
            after=after.fusion,
            same_computation=before.structure.computation == after.structure.computation,
            links=tuple(sorted(found.links.all())),
            changes=found.changes,
        )
    groups = [places(known.fusion, range(len(known.fusion.groups))) if known else () for known in (before, after)]
    change = (Vanished if before else Appeared)(before=groups[0], after=groups[1], scope="fusion", operations=())
    return FusionDiff(
        before=before.fusion if before else None,
        after=after.fusion if after else None,
        same_computation=False,
        links=(),
        changes=(change,),
    )


def _side(whole: Capture | SegmentedFusion, fusions: Sequence[SegmentedFusion]) -> Side:
    return Side(
        source=whole.source if isinstance(whole, Capture) else "",
        name=capture_name(whole) if isinstance(whole, Capture) else f"fusion {whole.index}",
        groups=sum(len(fusion.groups) for fusion in fusions),
        kernel_groups=sum(fusion.count() for fusion in fusions),
        schedulers=whole.schedulers,
    )
