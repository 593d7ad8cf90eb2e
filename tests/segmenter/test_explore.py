"""Random orders: their counts hang on the seeds alone."""

from __future__ import annotations

import pytest

from segscope.errors import SegscopeError
from segscope.segmenter import simulate
from segscope.segmenter.explore import Exploration, counts_of, explore
from segscope.segmenter.policy import Policy, Shuffled, deepest_first
from tests.segmenter.exact import one

JULY = "null_0.2.8_llama2-13b_bookend0_forward"


def july(orders: int = 20, **options: int) -> Exploration:
    return explore(one(JULY), orders, version="0.2.8", **options)  # type: ignore[arg-type]


def test_july_2024_most_often_gets_four() -> None:
    found = july(60)
    assert found.own == (6, 5)
    assert [outcome.counts for outcome in found.outcomes] == [(4, 1), (5, 3), (6, 5)]
    times = [outcome.times for outcome in found.outcomes]
    assert (sum(times), found.unknown) == (60, 0)
    assert times[0] > times[1] > times[2]


def test_the_best_is_what_its_seed_gives() -> None:
    found = july()
    best = found.outcomes[0]
    assert found.best == simulate(one(JULY), version="0.2.8", policy=Policy(order=Shuffled(best.seed)))
    assert counts_of(found.best.fusion) == best.counts


def test_the_best_parts_an_early_merge() -> None:
    found = july()
    assert found.parted_at is not None
    assert found.differs_at is not None
    assert found.differs_at <= found.parted_at
    trial = found.own_trials[found.parted_at]
    assert trial.tensors in ({"T8", "T21"}, {"T9", "T39"})
    assert found.parted_at in (5, 12)  # the whole fusion is trial 0


def test_processes_change_nothing() -> None:
    told: list[int] = []
    shared = explore(one(JULY), 130, seed=5, version="0.2.8", jobs=2, on_done=told.append)
    assert shared == july(130, seed=5, jobs=1)
    assert sorted(told) == [30, 100]


def test_everything_else_is_as_in_the_policy() -> None:
    policy = Policy(order=deepest_first, boundary=False)
    found = explore(one(JULY), 3, version="0.2.8", policy=policy)
    assert (found.own, found.outcomes[0].counts) == ((1, 0), (1, 0))
    assert (found.differs_at, found.parted_at) == (None, None)


def test_no_order_is_an_error() -> None:
    with pytest.raises(SegscopeError, match="explore at least 1"):
        july(0)
