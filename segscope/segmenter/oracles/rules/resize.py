"""What the resize scheduler demands.

Source: ``ResizeScheduler::canScheduleCompileTime`` in csrc/scheduler/resize.cpp.
"""

from __future__ import annotations

from typing import NamedTuple

from segscope.segmenter.oracles.rules.classes import SetOfExprs
from segscope.segmenter.oracles.rules.elementwise import has_ambiguous_broadcast, reference


class _Way(NamedTuple):
    """A resize or reshape between classes of dimensions."""

    is_resize: bool
    before: list[int]
    after: list[int]


def why_not_resize(group: SetOfExprs, *, outputs_too: bool) -> str | None:
    """Return why the scheduler refuses a group; None where it takes it. ``outputs_too`` as for ``reference``."""
    dims = group.dims
    if not any(step.resized for step in group.steps):
        return "no resize"
    if any(dims.all[dim].kind == "r" for node in group.nodes for n in group.whole.writes[node] for dim in dims.of(n)):
        return "a reduction beside a resize"
    if has_ambiguous_broadcast(group):
        return "a broadcast may have several sizes"
    broadcasts = {
        group.permissive.find(dim)
        for name in (*group.inputs, *group.whole.names(group.nodes))
        for dim in dims.of(name)
        if dims.is_broadcast(dim)
    }
    for step in group.steps:
        for before, after in step.resized:
            if dims.is_broadcast(after) or group.permissive.find(before) in broadcasts:
                return "a resize of a broadcast, or to one"
    covering = reference(group, outputs_too=outputs_too)
    if covering is None:
        return "no output covers all inputs"
    if any(_resize_between(group, covering, name) for name in group.all_outputs if name != covering):
        return f"a resize between the outputs {covering} and another one"
    return None


def _resize_between(group: SetOfExprs, start: str, end: str) -> bool:
    """Say whether a resize is on the way from the dimensions of one output to those of another."""
    ways = _ways(group)
    reached = {group.permissive.find(dim) for dim in group.dims.of(start)}
    wanted = {group.permissive.find(dim) for dim in group.dims.of(end)} - reached
    came_by: dict[int, tuple[_Way, list[int]]] = {}
    news = bool(wanted)
    while news and not wanted <= reached:
        found: dict[int, tuple[_Way, list[int]]] = {}
        for way in ways:
            for known, other in ((way.before, way.after), (way.after, way.before)):
                if reached.issuperset(known):
                    for dim in other:
                        if dim not in reached:
                            found.setdefault(dim, (way, known))
        came_by |= found
        reached |= found.keys()
        news = bool(found)
    left, seen = [dim for dim in wanted if dim in reached], set()
    while left:
        dim = left.pop()
        if dim in came_by and dim not in seen:
            seen.add(dim)
            way, known = came_by[dim]
            if way.is_resize:
                return True
            left += known
    return False


def _ways(group: SetOfExprs) -> list[_Way]:
    find = group.permissive.find
    ways = [_Way(True, [find(before)], [find(after)]) for step in group.steps for before, after in step.resized]
    for step in group.steps:
        taken, made = step.reshaped
        if taken and made:
            ways.append(_Way(False, [find(dim) for dim in taken], [find(dim) for dim in made]))
    return ways
