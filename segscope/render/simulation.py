"""Simulations, random orders and a policy over a folder, as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, get_args

from segscope.model import SegmentedFusion
from segscope.render.words import count
from segscope.segmenter import SetTrial, Simulation, Unknown, Version
from segscope.segmenter.corpus import Row, Verdict
from segscope.segmenter.explore import Exploration

_NAMES: Final = 6


def simulation_lines(real: SegmentedFusion, simulation: Simulation, version: Version, *, same: bool) -> Iterator[str]:
    """Yield how many groups there are, as segmented and as simulated, and whether they are the same."""
    yield f"as segmented: {real}"
    yield f"as simulated: {simulation.fusion} (nvFuser {version.name}, {count(len(simulation.trials), 'trial')})"
    yield f"the partition is {'the same as in the dump' if same else 'another one than in the dump'}"
    yield from unknown_lines(simulation)


def unknown_lines(simulation: Simulation) -> Iterator[str]:
    """Yield a line where nothing is known of some of the sets that were offered."""
    if unknown := simulation.unknown:
        first = unknown[0]
        assert isinstance(first.answer, Unknown)
        sets = count(len({trial.tensors for trial in unknown}), "set")
        at = simulation.trials.index(first)
        yield f"unknown: {sets}, first in trial {at} ({named(first)}): {first.answer.why}; taken for refused"


def exploration_lines(found: Exploration) -> Iterator[str]:
    """Yield the distribution of counts, and where the best order went another way. Trial 0 is the whole fusion."""
    orders = sum(outcome.times for outcome in found.outcomes)
    yield f"{count(orders, 'random order')}; kernel groups + other groups:"
    for outcome in found.outcomes:
        share = f"{outcome.times:>6}  {outcome.times / orders:6.1%}"
        own = ", as in its own order" if outcome.counts == found.own else ""
        yield f"  {outcome.counts}  {share}  first with seed {outcome.seed}{own}"
    if all(outcome.counts != found.own for outcome in found.outcomes):
        yield f"  {found.own} in its own order, and in none of these"
    if found.unknown:
        yield f"in {count(found.unknown, 'order')} nothing is known of a set that was offered; it was taken for refused"
    yield f"the best is {found.outcomes[0].counts}, with seed {found.outcomes[0].seed}"
    if found.differs_at is not None:
        own, other = (_trial(trials, found.differs_at) for trials in (found.own_trials, found.best.trials))
        yield f"  trial {found.differs_at} is the first that differs: {other}; in its own order {own}"
    if found.parted_at is not None:
        trial = found.own_trials[found.parted_at]
        yield f"  the first merge in its own order that the best has apart is trial {found.parted_at}: {named(trial)}"


def named(trial: SetTrial) -> str:
    """Return ``T8 + T21``: the groups of a trial, each by the tensors that it defines."""
    return " + ".join(_short(part) for part in trial.parts)


def corpus_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table of the fusions with another count, or none; then how many there are of each verdict."""
    shown = [row for row in rows if row.verdict != "same"]
    if shown:
        yield from _table(("VERDICT", "DUMP", "OWN", "POLICY", "FUSION"), map(_cells, shown))
        yield ""
    counts = Counter(row.verdict for row in rows)
    yield ", ".join(f"{counts[verdict]} {verdict}" for verdict in get_args(Verdict) if verdict in counts)
    judged = [row for row in rows if row.own and row.policy]
    own = sum(row.own.kernel_groups for row in judged if row.own)
    policy = sum(row.policy.kernel_groups for row in judged if row.policy)
    yield f"{count(len(judged), 'fusion')} judged: {own} kernel groups by nvFuser's own choices, {policy} by the policy"


def _cells(row: Row) -> tuple[str, ...]:
    where = row.file if row.fusion is None else f"{row.file}, fusion {row.fusion}"
    counts = (str(found) if found else "-" for found in (row.real, row.own, row.policy))
    return (row.verdict, *counts, f"{where}: {row.why}" if row.why else where)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    every = [header, *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(header))]
    for row in every:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _trial(trials: Sequence[SetTrial], at: int) -> str:
    if at >= len(trials):
        return "none"
    trial = trials[at]
    return f"{named(trial)}, {trial.accepted or 'not'} accepted"


def _short(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")
