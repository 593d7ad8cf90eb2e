"""Why the kernels of a region are not one, grouped by what the compiler said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from segscope.compare.executors.model import Pass
from segscope.compare.executors.region import Region
from segscope.compare.executors.words import QUIET, kind


class Reason(NamedTuple):
    """Why some kernels of a region are not one, for all that were told the same."""

    region: str
    times: int
    reason: str
    pairs: tuple[tuple[str, str], ...]
    """Both sides, each with what it does."""


def reasons(one: Pass) -> tuple[Reason, ...]:
    """Return why kernels are not one, by region and reason, the most frequent first."""
    return tuple(reason for region in one.regions for reason in _reasons(region))


def _reasons(region: Region) -> Iterable[Reason]:
    made = _made(region)
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    times = Counter[str]()
    for why in region.why_not:
        found[why.reason].append((_side(why.first, made), _side(why.second, made)))
        times[why.reason] += why.times
    for reason in sorted(found, key=lambda text: -times[text]):
        yield Reason(region.name, times[reason], reason, tuple(dict.fromkeys(found[reason])))


def _made(region: Region) -> dict[str, tuple[str, ...]]:
    """Return the kinds of operations that make a buffer, or that a group of nvFuser has."""
    operations = {node.name: kind(node.operation) for node in region.nodes}
    made: dict[str, tuple[str, ...]] = {}
    for kernel in region.kernels:
        made |= dict.fromkeys((kernel.name, *(buffer.name for buffer in kernel.writes)), kernel.kinds)
    for why in region.why_not:
        for name, nodes in ((why.first, why.first_operations), (why.second, why.second_operations)):
            if kinds := tuple(dict.fromkeys(operations[node] for node in nodes if node in operations)):
                made[name] = kinds
    return made


def _side(name: str, made: Mapping[str, tuple[str, ...]]) -> str:
    kinds = made.get(name) or tuple(dict.fromkeys(k for part in name.split("+") for k in made.get(part, ())))
    telling = [word for word in kinds if word not in QUIET] or kinds
    return f"{name} ({', '.join(telling)})" if telling else name
