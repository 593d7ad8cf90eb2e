"""What to draw of a fusion: focus, query, collapsed metadata groups, and the level that can be read."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import Final, NamedTuple

from segscope.errors import RenderError
from segscope.graph import Successors, predecessors, successors, topological_order
from segscope.model import SegmentedFusion
from segscope.render import timing, words
from segscope.render.view import Level, View

NODE_LIMIT: Final = 300
"""Nodes of a picture of expressions; one with more is drawn at the group level."""

Box = tuple[int, ...]
"""Indices of the groups that are drawn as one box."""


class NothingSelected(RenderError):  # noqa: N818
    """A focus or a query names no group of this fusion."""


class Found(NamedTuple):
    """Where a query is found."""

    groups: frozenset[int] = frozenset()
    """Indices of groups: by their heading, by an expression, or by a value that they read or write."""
    exprs: frozenset[int] = frozenset()
    """Ids of expressions: by their operation, or by a value that they make."""
    values: frozenset[str] = frozenset()
    """Names of values."""


class Selection(NamedTuple):
    """What to draw."""

    level: Level
    boxes: tuple[Box, ...]
    """In the order of their first groups."""
    closed: frozenset[Box]
    """Boxes of metadata groups that are drawn small, without their expressions."""
    centre: frozenset[int]
    """The groups in focus; empty where all are drawn."""
    found: Found
    notes: tuple[str, ...]
    """The measured time, and what is not as asked for, or not there: to be said beside the picture."""
    fallback: str | None
    """The note, where another level is drawn than asked for."""


def select(fusion: SegmentedFusion, view: View) -> Selection:
    """Return what to draw of a fusion.

    The groups that ``view.focus`` names, and those in which ``view.query`` is found, are the centre; with them come all
    that are ``view.radius`` cuts away. Raises NothingSelected where there is no centre, RenderError for a query that is
    no regular expression or is too slow.
    """
    found = find(fusion, view.query) if view.query is not None else Found()
    notes = [timing.total(view.times)] if view.times else []
    if view.focus or view.query is not None:
        if missing := [index for index in view.focus if not 0 <= index < len(fusion.groups)]:
            raise NothingSelected(f"fusion {fusion.index} has no group at position {missing[0]}")
        centre = frozenset(view.focus) | found.groups
        if not centre:
            raise NothingSelected(f"query {view.query!r} is found nowhere in fusion {fusion.index}")
        shown = near(fusion, centre, view.radius)
        notes.append(_shown_note(fusion, centre, shown, view))
    else:
        centre, shown = frozenset(), frozenset(range(len(fusion.groups)))
    boxes = collapsed(fusion, shown) if view.collapse else tuple((index,) for index in sorted(shown))
    closed = frozenset(box for box in boxes if view.collapse and not fusion.launches_kernel(fusion.groups[box[0]]))
    if view.collapse:
        notes.append("metadata groups collapsed")
    level, fallback = view.level, None
    if level == "expressions" and (nodes := expression_nodes(fusion, boxes, closed)) > NODE_LIMIT:
        level, fallback = "groups", f"groups only: expressions would be {nodes:,} nodes, more than {NODE_LIMIT}"
        notes.append(fallback)
    return Selection(level, boxes, closed, centre, found, tuple(notes), fallback)


def group_index(fusion: SegmentedFusion, label: str) -> int:
    """Return the index of the group of that label: ``g3`` by group id, ``#3`` by position.

    Raises NothingSelected where there is none, RenderError for what is no label.
    """
    if not re.fullmatch(r"[g#]\d{1,9}", label, re.ASCII):
        raise RenderError(f"{label!r} names no group: write g3 for the one with id 3, #3 for the one at position 3")
    for group in fusion.groups:
        if label in (group.label, f"#{group.index}"):
            return group.index
    labels = [group.label for group in fusion.groups]
    some = " ".join(labels if len(labels) <= 20 else [*labels[:19], "..."])
    raise NothingSelected(f"fusion {fusion.index} has no group {label}; it has {some or 'none'}")


def near(fusion: SegmentedFusion, centre: Iterable[int], radius: int) -> frozenset[int]:
    """Return the groups that are at most ``radius`` cuts away from one of ``centre``, in either direction."""
    onward = successors(len(fusion.groups), ((cut.source, cut.target) for cut in fusion.cuts))
    back = predecessors(onward)
    shown = frontier = set(centre)
    for _ in range(radius):
        frontier = {near for index in frontier for near in (*onward[index], *back[index])} - shown
        if not frontier:
            break
        shown = shown | frontier
    return frozenset(shown)


def find(fusion: SegmentedFusion, query: str) -> Found:
    """Search for a regular expression in what pictures say.

    That is, in the headings of groups (``g3 · pointwise · kernel``), in the operations of expressions (``cast``, and as
    printed: ``__bfloat2float``), and in values with what is known of them (``T23 float [2, 40, 4096, 128] 167.8 MB``).
    """
    from segscope.render.search import found_in

    headings = [words.heading(fusion, group) for group in fusion.groups]
    operations = list(dict.fromkeys(text for expr in fusion.exprs for text in (expr.operation, expr.op)))
    names = dict.fromkeys(name for expr in fusion.exprs for name in (*expr.outputs, *expr.inputs))
    names |= dict.fromkeys(name for group in fusion.groups for name in (*group.inputs, *group.outputs))
    values = list(names)
    texts = [*headings, *operations, *(words.tensor(fusion, name) for name in values)]
    hits = found_in(query, texts)
    first_value = len(headings) + len(operations)
    groups = {hit for hit in hits if hit < len(headings)}
    found_operations = {texts[hit] for hit in hits if len(headings) <= hit < first_value}
    found_values = {values[hit - first_value] for hit in hits if hit >= first_value}
    exprs = {
        expr.id
        for expr in fusion.exprs
        if not found_operations.isdisjoint((expr.operation, expr.op)) or not found_values.isdisjoint(expr.outputs)
    }
    groups |= {
        group.index
        for group in fusion.groups
        if not exprs.isdisjoint(group.expr_ids) or not found_values.isdisjoint((*group.inputs, *group.outputs))
    }
    return Found(frozenset(groups), frozenset(exprs), frozenset(found_values))


def collapsed(fusion: SegmentedFusion, shown: Iterable[int]) -> tuple[Box, ...]:
    """Return the groups as boxes: a kernel group alone, metadata groups between the same kernel groups together.

    Between the same ones are those that depend on the same kernel groups and that the same kernel groups depend on.
    Boxes made so never wait for each other; where the groups already do, each is a box of its own.
    """
    kernels = [fusion.launches_kernel(group) for group in fusion.groups]
    onward = successors(len(fusion.groups), ((cut.source, cut.target) for cut in fusion.cuts))
    if topological_order(onward).cycle:
        return tuple((index,) for index in sorted(shown))
    before, after = _kernels_reached(predecessors(onward), kernels), _kernels_reached(onward, kernels)
    boxes: dict[tuple[int, ...], list[int]] = {}
    for index in sorted(shown):
        key = (index,) if kernels[index] else (before[index], after[index])
        boxes.setdefault(key, []).append(index)
    return tuple(tuple(box) for box in boxes.values())


def _kernels_reached(graph: Successors, kernels: Sequence[bool]) -> list[int]:
    """Return for each group the kernel groups that edges lead to from it, as the bits of an integer."""
    reached = [0] * len(graph)
    for index in reversed(topological_order(graph).nodes):
        for target in graph[index]:
            reached[index] |= reached[target] | kernels[target] << target
    return reached


def expression_nodes(fusion: SegmentedFusion, boxes: Iterable[Box], closed: Container[Box]) -> int:
    """Return about how many nodes the expression level has: expressions on tensors, values that cross, boundaries."""
    nodes = 0
    shown: set[int] = set()
    for box in boxes:
        shown.update(box)
        if box in closed:
            nodes += 1
        else:
            nodes += sum(not expr.is_scalar for index in box for expr in fusion.exprs_of(fusion.groups[index]))
    crossing = {(cut.source, name) for cut in fusion.cuts if {cut.source, cut.target} <= shown for name in cut.values}
    return nodes + len(crossing) + len(fusion.inputs) + len(fusion.outputs)


def _shown_note(fusion: SegmentedFusion, centre: frozenset[int], shown: frozenset[int], view: View) -> str:
    labels = [fusion.groups[index].label for index in sorted(centre)]
    named = ", ".join(labels if len(labels) <= 6 else [*labels[:5], "..."])
    steps = f" and what is within {words.count(view.radius, 'cut')}" if view.radius else ""
    query = f" (query {view.query!r})" if view.query is not None else ""
    return f"{len(shown)} of {words.count(len(fusion.groups), 'group')} drawn: {named}{steps}{query}"
