"""The kinds of change between two segmentations, one class each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field

from segscope.checks.facts import listed
from segscope.model import Group, SegmentedFusion
from segscope.model.base import Model
from segscope.render.words import count

KINDS: Final = ("merged", "split", "scheduler changed", "moved", "appeared", "vanished")
"""``kind`` of each class, the largest changes first."""

_SHOWN: Final = 6


class Place(Model):
    """A group on one side."""

    index: int
    """Its position in the fusion."""
    label: str
    """``g3``, or ``#3`` in a dump without group ids."""
    scheduler: str
    """As printed."""
    kernel: bool
    """Whether it is a kernel group."""

    def __str__(self) -> str:
        return f"{self.label} ({self.scheduler})"


class Names(Model):
    """What the same tensor is called on each side: ``T8 / T9``. Several names where it is computed several times."""

    before: tuple[str, ...]
    """Its names on the first side; none where it is not there."""
    after: tuple[str, ...]
    """Its names on the second side."""

    def __str__(self) -> str:
        return " / ".join(", ".join(names) for names in (self.before, self.after) if names)


class Operation(Model):
    """The same expression on each side, or an expression that only one side has."""

    word: str
    """What it does: ``slice``, ``cast``, ``neg``, ... (``Expr.operation``)."""
    before: tuple[int, ...]
    """Ids of the expressions; empty where there is none on that side, several where it is repeated."""
    after: tuple[int, ...]
    """Those of the second side."""
    tensors: Names
    """What it makes."""

    @property
    def is_shared(self) -> bool:
        """Whether both sides have it."""
        return bool(self.before and self.after)

    def __str__(self) -> str:
        return f"{self.word} {self.tensors}"


class _Change(Model):
    """Something that differs."""

    before: tuple[Place, ...]
    """The groups of the first side that it is about, in the order printed."""
    after: tuple[Place, ...]
    """Those of the second side."""


class Merged(_Change):
    """Several groups went on as one. What they gave away, or never had, is told by other changes."""

    kind: Literal["merged"] = "merged"
    """Which change it is, in JSON too."""
    tensors: tuple[Names, ...]
    """What crossed between them, and crosses no cut now."""

    def explain(self) -> str:
        """Return the change in one line."""
        return f"merged: {_places(self.before)} -> {self.after[0]}{_and(self.tensors, 'no longer', 'cross')}"


class Split(_Change):
    """A group went on as several."""

    kind: Literal["split"] = "split"
    """Which change it is, in JSON too."""
    tensors: tuple[Names, ...]
    """What crosses between them, and crossed no cut before."""

    def explain(self) -> str:
        """Return the change in one line."""
        return f"split: {self.before[0]} -> {_places(self.after)}{_and(self.tensors, 'now', 'cross')}"


class SchedulerChanged(_Change):
    """A group went on as one group, under another scheduler."""

    kind: Literal["scheduler changed"] = "scheduler changed"
    """Which change it is, in JSON too."""

    def explain(self) -> str:
        """Return the change in one line."""
        return f"scheduler changed: {self.before[0]} -> {self.after[0]}"


class Moved(_Change):
    """Expressions left a group for another that is not what became of it."""

    kind: Literal["moved"] = "moved"
    """Which change it is, in JSON too."""
    operations: tuple[Operation, ...]
    """What moved."""

    def explain(self) -> str:
        """Return the change in one line."""
        words = [str(each) for each in self.operations]
        return f"moved: {_labels(self.before)} -> {_labels(self.after)}: {_some(words)}"


class Appeared(_Change):
    """There is something that was not there: expressions in a group that went on, a group, or a fusion."""

    kind: Literal["appeared"] = "appeared"
    """Which change it is, in JSON too."""
    scope: Literal["expressions", "group", "fusion"]
    """What of the three it is."""
    operations: tuple[Operation, ...]
    """The expressions; those that both sides have are repeated here and stand elsewhere too. Empty for a fusion."""

    def explain(self) -> str:
        """Return the change in one line."""
        return f"appeared{_what(self.scope, self.after, self.operations)}"


class Vanished(_Change):
    """There was something that is no longer there: expressions in a group that went on, a group, or a fusion."""

    kind: Literal["vanished"] = "vanished"
    """Which change it is, in JSON too."""
    scope: Literal["expressions", "group", "fusion"]
    """What of the three it was."""
    operations: tuple[Operation, ...]
    """The expressions; those that both sides have were repeated here, and stand elsewhere. Empty for a fusion."""

    def explain(self) -> str:
        """Return the change in one line."""
        return f"vanished{_what(self.scope, self.before, self.operations)}"


Change = Annotated[
    Merged | Split | SchedulerChanged | Moved | Appeared | Vanished,
    Field(discriminator="kind"),
]
"""What may differ; ``kind`` says which it is."""


def places(fusion: SegmentedFusion, indices: Iterable[int]) -> tuple[Place, ...]:
    """Return groups of a fusion, in the order printed."""
    return tuple(_place(fusion, fusion.groups[index]) for index in sorted(indices))


def _place(fusion: SegmentedFusion, group: Group) -> Place:
    kernel = fusion.launches_kernel(group)
    return Place(index=group.index, label=group.label, scheduler=group.scheduler, kernel=kernel)


def _places(found: Sequence[Place]) -> str:
    """Return ``#1, #7 and #10 (pointwise)``, or each with its scheduler where they differ."""
    if len({place.scheduler for place in found}) == 1:
        return f"{_labels(found)} ({found[0].scheduler})"
    return listed([str(place) for place in found])


def _labels(found: Sequence[Place]) -> str:
    return listed([place.label for place in found])


def _and(tensors: Sequence[Names], adverb: str, verb: str) -> str:
    if not tensors:
        return ""
    ending = "es" if len(tensors) == 1 and adverb == "now" else ""
    return f"; {_some([str(names) for names in tensors])} {adverb} {verb}{ending}"


def _what(scope: str, found: Sequence[Place], operations: Sequence[Operation]) -> str:
    if scope == "fusion":
        return f": a fusion of {count(len(found), 'group')}: {_some([str(place) for place in found])}"
    words = [f"repeated {each}" if each.is_shared else str(each) for each in operations]
    if scope == "group":
        return f": {found[0]}: {_some(words)}" if words else f": {found[0]}"
    return f" in {_labels(found)}: {_some(words)}"


def _some(words: list[str]) -> str:
    return listed(words if len(words) <= _SHOWN else [*words[: _SHOWN - 1], f"{len(words) - _SHOWN + 1} more"])
