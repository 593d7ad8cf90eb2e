"""Random orders: what else the segmenter might have made of a fusion."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from segscope.errors import SegscopeError
from segscope.model import SegmentedFusion
from segscope.model.base import Model
from segscope.segmenter.loop.state import SetTrial
from segscope.segmenter.oracle import OracleOf
from segscope.segmenter.policy import Policy, Shuffled
from segscope.segmenter.run import NVFUSERS_OWN, Lab, OracleName, Simulation
from segscope.segmenter.versions import Version

_FEW: Final = 100
"""So many orders take about as long as it takes to start processes."""


class Counts(NamedTuple):
    """How many groups there are."""

    kernel_groups: int
    others: int
    """Groups that launch no kernel."""

    def __str__(self) -> str:
        return f"{self.kernel_groups} + {self.others}"


class Outcome(Model):
    """A number of groups that random orders led to."""

    counts: Counts
    times: int
    seed: int
    """The first seed that led to it."""


class Exploration(Model):
    """What random orders made of a fusion."""

    own: Counts
    """With the policy's own order."""
    outcomes: tuple[Outcome, ...]
    """The best first: fewest kernel groups, then fewest others."""
    unknown: int
    """Orders in which a set was offered of which nothing is known."""
    best: Simulation
    """That of the first seed of the best outcome."""
    own_trials: tuple[SetTrial, ...]
    """The trials in the policy's own order."""

    @property
    def differs_at(self) -> int | None:
        """The position of the first trial that is not the same in the best and in the own order; None if all are."""
        pairs = zip(self.own_trials, self.best.trials, strict=False)
        first = next((at for at, (own, other) in enumerate(pairs) if not _alike(own, other)), None)
        if first is None and len(self.own_trials) != len(self.best.trials):
            return min(len(self.own_trials), len(self.best.trials))
        return first

    @property
    def parted_at(self) -> int | None:
        """The position of the first merge in the own order whose tensors the best order has in several groups.

        None where there is none. This tells more than ``differs_at``, where another order offers other sets.
        """
        fusion = self.best.fusion
        groups = [{name for expr in fusion.exprs_of(group) for name in expr.outputs} for group in fusion.groups]
        known = set().union(*groups)
        return next(
            (
                at
                for at, trial in enumerate(self.own_trials)
                if trial.merged and not any(group >= trial.tensors & known for group in groups)
            ),
            None,
        )


def counts_of(fusion: SegmentedFusion) -> Counts:
    """Count the groups."""
    kernels = len(fusion.kernel_groups)
    return Counts(kernels, len(fusion.groups) - kernels)


def explore(
    fusion: SegmentedFusion,
    orders: int,
    *,
    seed: int = 0,
    oracle: OracleName | OracleOf = "rules",
    version: str | Version | None = None,
    policy: Policy = NVFUSERS_OWN,
    jobs: int | None = None,
    on_done: Callable[[int], None] = lambda orders: None,
) -> Exploration:
    """Segment a fusion in so many random orders (``Shuffled``), with seeds from ``seed`` on.

    Everything else is as in ``policy``. Many orders are shared among ``jobs`` processes, by default one a CPU;
    ``on_done`` is told how many are done since it was told last. The result hangs on neither.

    Raises SegscopeError for no order at all, and as ``Lab`` and ``Lab.run`` do.
    """
    if orders < 1:
        raise SegscopeError(f"{orders} orders are none; explore at least 1")
    lab = Lab(fusion, oracle=oracle, version=version)
    own = lab.run(policy)
    seeds = range(seed, seed + orders)
    jobs = jobs or len(os.sched_getaffinity(0))
    found: dict[int, tuple[Counts, bool]] = {}
    if jobs == 1 or orders <= _FEW:
        found.update(_count(lab, policy, seeds))
        on_done(orders)
    else:
        parts = [seeds[at : at + _FEW] for at in range(0, orders, _FEW)]
        with ProcessPoolExecutor(jobs) as pool:
            run = partial(_count_all, fusion, oracle, lab.version, policy)
            for future in as_completed([pool.submit(run, part) for part in parts]):
                part = future.result()
                found.update(part)
                on_done(len(part))
    times = Counter(counts for counts, _ in found.values())
    firsts = {found[at][0]: at for at in reversed(seeds)}
    outcomes = tuple(Outcome(counts=counts, times=times[counts], seed=firsts[counts]) for counts in sorted(times))
    return Exploration(
        own=counts_of(own.fusion),
        outcomes=outcomes,
        unknown=sum(unknown for _, unknown in found.values()),
        best=lab.run(replace(policy, order=Shuffled(outcomes[0].seed))),
        own_trials=own.trials,
    )


_Found = list[tuple[int, tuple[Counts, bool]]]


def _count_all(
    fusion: SegmentedFusion, oracle: OracleName | OracleOf, version: Version, policy: Policy, seeds: Sequence[int]
) -> _Found:
    """Do one part of the work in a process of its own."""
    return _count(Lab(fusion, oracle=oracle, version=version), policy, seeds)


def _count(lab: Lab, policy: Policy, seeds: Iterable[int]) -> _Found:
    found = []
    for seed in seeds:
        simulation = lab.run(replace(policy, order=Shuffled(seed)))
        found.append((seed, (counts_of(simulation.fusion), bool(simulation.unknown))))
    return found


def _alike(own: SetTrial, other: SetTrial) -> bool:
    return (own.tensors, own.merged) == (other.tensors, other.merged)
