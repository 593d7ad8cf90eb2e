"""Which expressions, and so which groups, a word selects."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, NoReturn

from segscope.asserts.message import fail
from segscope.asserts.operations import OPERATION, expressions, operations_here
from segscope.dump.operators import NAMED
from segscope.errors import SegscopeError
from segscope.model import Expr, Group, SegmentedFusion
from segscope.render.selection import NothingSelected, group_index
from segscope.vocabulary import SCHEDULERS, check_scheduler

__tracebackhide__ = True

_AMBIGUOUS: Final = frozenset(SCHEDULERS) & {*NAMED, *NAMED.values()}
_SCHEDULER: Final = "scheduler:"


class Item(NamedTuple):
    """Something that is in one group or in several: an expression, or a group itself."""

    name: str
    """``cat T18``, ``g3``."""
    groups: frozenset[int]
    """Indices of the groups that hold it."""
    exprs: frozenset[int]
    """Ids of its expressions."""


class Selection(NamedTuple):
    """What a selector selects: at least one item."""

    selector: str
    items: tuple[Item, ...]

    @property
    def groups(self) -> set[int]:
        """Indices of the groups that hold any of it."""
        return set().union(*(item.groups for item in self.items))


def select(fusion: SegmentedFusion, selector: str) -> Selection:
    """Return what a selector stands for, by its form.

    * ``g3``: the group with that id; ``#3``: the group at that position;
    * ``T12``: what makes the tensor; for an input of the fusion, what reads it;
    * ``pointwise``: the groups of that scheduler;
    * any other word: the expressions of that operation, by what tables call it (``cat``, ``neg``, ``cast``, ``cast to
      float``), by its kind (``Expr.kind``), or by its operator as printed (``Set.Permute``).

    Words that are both, such as ``reduction``, must be told apart: ``op:reduction``, ``scheduler:reduction``.

    Raises AssertionError where nothing is selected, SegscopeError where the selector is ambiguous or no text.
    """
    if not isinstance(selector, str):
        raise SegscopeError(f"a selector is a text such as 'cat', 'pointwise', 'T12' or 'g3', not {selector!r}")
    if selector in _AMBIGUOUS:
        raise SegscopeError(
            f"{selector!r} is an operation and a scheduler: say {OPERATION + selector!r} or {_SCHEDULER + selector!r}"
        )
    items = tuple(_items(fusion, selector))
    if not items:
        _nothing(fusion, selector)
    return Selection(selector, items)


def _items(fusion: SegmentedFusion, selector: str) -> list[Item]:
    if re.fullmatch(r"[g#][0-9]{1,9}", selector):
        try:
            return [_item(fusion.groups[group_index(fusion, selector)])]
        except NothingSelected:
            return []
    if re.fullmatch(r"T[0-9]+", selector):
        makers = [expr for expr in fusion.exprs if selector in expr.outputs]
        given = selector in fusion.inputs
        return _placed(fusion, makers or [expr for expr in fusion.exprs if given and selector in expr.inputs])
    name = selector.removeprefix(_SCHEDULER)
    if name != selector:
        check_scheduler(name, fusion.schedulers)
    if name != selector or name in SCHEDULERS or name in fusion.schedulers:
        return [_item(group) for group in fusion.groups if group.scheduler == name]
    return _placed(fusion, expressions(fusion, selector))


def _item(group: Group) -> Item:
    return Item(group.label, frozenset([group.index]), frozenset(group.expr_ids))


def _placed(fusion: SegmentedFusion, exprs: list[Expr]) -> list[Item]:
    """Return expressions with the groups that hold each."""
    holders: dict[int, set[int]] = {expr.id: set() for expr in exprs}
    for group in fusion.groups:
        for number in holders.keys() & set(group.expr_ids):
            holders[number].add(group.index)
    return [
        Item(f"{expr.operation} {', '.join(expr.outputs)}", frozenset(holders[expr.id]), frozenset([expr.id]))
        for expr in exprs
    ]


def _nothing(fusion: SegmentedFusion, selector: str) -> NoReturn:
    there = operations_here(fusion)
    if re.fullmatch(r"[g#][0-9]+", selector):
        there = f"groups here: {' '.join(group.label for group in fusion.groups)}"
    fail(f"something that is {selector!r}", "nothing", fusion, there)
