"""``nondeterministic``: what was run again, and cut differently."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import ClassVar, Final, NamedTuple

from segscope.checks.base import Check
from segscope.checks.facts import listed
from segscope.checks.finding import Finding, Severity
from segscope.checks.structure import Structure, structure
from segscope.model import Capture, SegmentedFusion

_SHOWN: Final = 3


class _Run(NamedTuple):
    """A capture, or what one of its streams printed."""

    name: str
    source: str
    fusions: list[SegmentedFusion]


class _Print(NamedTuple):
    """A fusion of a run."""

    run: _Run
    fusion: SegmentedFusion
    structure: Structure


class Nondeterministic(Check):
    """The same fusion is cut the same way in every run and on every rank, but for numbers and order.

    Captures, and streams (ranks) of a capture, are compared fusion by fusion in the order in which they were printed,
    where they compute the same (``Structure.computation``). Fusions whose dump is incomplete are left out.
    """

    name: ClassVar[str] = "nondeterministic"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "several captures of the same thing, or the ranks in one, are cut differently"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield nothing: it takes two."""
        yield from ()

    def run_on_captures(self, captures: Sequence[Capture]) -> Iterator[Finding]:
        """Yield one finding for each fusion that has several segmentations, about one that is not cut as most are.

        ``groups`` are those that most do not have. Where captures compute different things, a last finding, a note,
        says so; that ranks do is no news.
        """
        runs = _runs(captures)
        noun = "captures" if len(runs) == len(captures) else "streams"
        apart: list[list[list[_Print]]] = []
        for place in range(max(len(run.fusions) for run in runs) if len(runs) > 1 else 0):
            there = [(run, run.fusions[place]) for run in runs if place < len(run.fusions)]
            prints = [_Print(run, fusion, structure(fusion)) for run, fusion in there if fusion.complete]
            alike = _sorted_by(prints, lambda p: p.structure.computation)
            for same in alike:
                cut_alike = _sorted_by(same, lambda p: p.structure.segmentation)
                if len(cut_alike) > 1:
                    yield self._cut_differently(noun, cut_alike)
            if len(alike) > 1:
                apart.append(alike)
        if apart and len(captures) > 1:
            yield self._not_the_same(noun, apart)

    def _cut_differently(self, noun: str, cut_alike: list[list[_Print]]) -> Finding:
        usual, other = cut_alike[0][0], cut_alike[1][0]
        groups = _only_in(other.structure.groups, usual.structure.groups)
        labels = [other.fusion.groups[index].label for index in groups]
        where = f"; {_names(labels)} of {other.run.name} are not in {usual.run.name}" if groups else ""
        ways = "; ".join(f"{_names([p.run.name for p in same])} ({_schedulers(same[0].fusion)})" for same in cut_alike)
        return Finding(
            rule=self.name,
            severity=self.severity,
            source=other.run.source,
            fusion=other.fusion.index,
            groups=groups,
            message=f"{sum(map(len, cut_alike))} {noun}, {len(cut_alike)} segmentations: {ways}{where}",
            advice="what runs again may have other kernels: if nothing else differs (versions, options, device), "
            "report it to nvFuser",
        )

    def _not_the_same(self, noun: str, apart: list[list[list[_Print]]]) -> Finding:
        first, other = (same[0] for same in apart[0][:2])
        places = [str(alike[1][0].fusion.index) for alike in apart]
        fusions = f"fusion {places[0]}" if len(places) == 1 else f"fusions {_names(places)}"
        return Finding(
            rule=self.name,
            severity="note",
            source=other.run.source,
            fusion=None,
            message=f"{noun} are not of the same thing: {fusions} of {other.run.name} and of {first.run.name} "
            "compute different things, and are not compared",
            advice="capture the same program again, with the same shapes and options; or ignore this rule",
        )


def _runs(captures: Sequence[Capture]) -> list[_Run]:
    found: list[_Run] = []
    for name, capture in zip(_short_names([capture.source for capture in captures]), captures, strict=True):
        streams: dict[str, list[SegmentedFusion]] = defaultdict(list)
        for fusion in capture.fusions:
            streams[fusion.stream].append(fusion)
        for stream, fusions in streams.items():
            parts = [name] if len(captures) > 1 or not stream else []
            found.append(_Run(" ".join([*parts, *([stream] if stream else [])]), capture.source, fusions))
    return found


def _short_names(sources: Sequence[str]) -> list[str]:
    """Return a name for each: that of the file where it tells them apart, else the source, numbered if need be."""
    files = [PurePath(source).name for source in sources]
    names = files if len(set(files)) == len(files) else sources
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def _sorted_by(prints: list[_Print], key: Callable[[_Print], str]) -> list[list[_Print]]:
    """Return those with the same key together: most first, else in the order of the first."""
    found: dict[str, list[_Print]] = defaultdict(list)
    for each in prints:
        found[key(each)].append(each)
    return sorted(found.values(), key=len, reverse=True)


def _only_in(groups: Sequence[str], others: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of the groups that are more often here than among the others."""
    left = Counter(others)
    found = []
    for index, group in enumerate(groups):
        left[group] -= 1
        if left[group] < 0:
            found.append(index)
    return tuple(found)


def _schedulers(fusion: SegmentedFusion) -> str:
    return ", ".join(f"{number} {name}" for name, number in fusion.schedulers.items()) or "no groups"


def _names(names: Sequence[str]) -> str:
    return listed([*names[:_SHOWN], f"{len(names) - _SHOWN} more"]) if len(names) > _SHOWN else listed(names)
