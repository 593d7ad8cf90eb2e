"""Why six kernels in July 2024, and not four: one choice changed at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from segscope.segmenter import Group, Lab, Policy
from segscope.segmenter.policy import (
    Shuffled,
    deepest_first,
    front,
    last_found_first,
    reversed_order,
    shallowest_first,
)
from tests.segmenter.exact import one

Q, K = frozenset({"T8", "T21"}), frozenset({"T9", "T39"})


@pytest.fixture(scope="module")
def july() -> Lab:
    return Lab(one("null_0.2.8_llama2-13b_bookend0_forward"), version="0.2.8")


@pytest.mark.parametrize(
    ("policy", "pointwise", "no_op"),
    [
        pytest.param(Policy(), 6, 5, id="nvFuser's own"),
        pytest.param(Policy(refuse=frozenset({Q})), 5, 3, id="not T8 with T21"),
        pytest.param(Policy(refuse=frozenset({K})), 5, 3, id="not T9 with T39"),
        pytest.param(Policy(refuse=frozenset({Q, K})), 4, 1, id="neither"),
        pytest.param(Policy(order=reversed_order), 4, 1, id="reversed"),
        pytest.param(Policy(order=deepest_first), 4, 1, id="deepest first"),
        pytest.param(Policy(order=shallowest_first), 6, 5, id="shallowest first"),
        pytest.param(Policy(one_pair_a_round=True), 4, 1, id="one pair a round"),
        pytest.param(Policy(whole_operand_sets=True), 4, 1, id="all operands"),
        pytest.param(Policy(place=front), 6, 5, id="new groups in front"),
        pytest.param(Policy(casts_first=True), 4, 1, id="cast sequences first"),
        pytest.param(Policy(candidates=last_found_first), 4, 1, id="consumers first"),
        pytest.param(Policy(whole_operand_sets=True, place=front, order=deepest_first), 5, 3, id="not monotone"),
        pytest.param(Policy(boundary=False), 1, 0, id="no boundary"),
    ],
)
def test_the_counterfactuals(july: Lab, policy: Policy, pointwise: int, no_op: int) -> None:
    fusion = july.run(policy).fusion
    assert (fusion.count("pointwise"), fusion.count("no_op")) == (pointwise, no_op)


def test_a_random_order_most_often_gives_four(july: Lab) -> None:
    counts = Counter(july.run(Policy(order=Shuffled(seed))).fusion.count("pointwise") for seed in range(100))
    assert set(counts) == {4, 5, 6}
    assert counts[4] > counts[5] > counts[6]


def test_the_same_seed_gives_the_same_segmentation(july: Lab) -> None:
    once, again = (july.run(Policy(order=Shuffled(7))) for _ in range(2))
    assert once == again


def test_the_early_merges_are_the_fifth_and_the_twelfth_trial(july: Lab) -> None:
    """Counted from 1, the whole fusion not being among the trials of the log."""
    trials = july.run().trials
    assert [at for at, trial in enumerate(trials) if trial.merged and trial.tensors in (Q, K)] == [5, 12]


def test_a_forced_merge_is_made_where_it_is_offered(july: Lab) -> None:
    refused = next(t for t in july.run().trials if t.step == "rounds" and t.accepted is None)
    simulation = july.run(replace(Policy(), force=frozenset({refused.tensors})))
    forced = next(trial for trial in simulation.trials if trial.step == "rounds" and trial.tensors == refused.tensors)
    assert (forced.merged, forced.accepted) == (True, "none")


def test_a_policy_of_ones_own_is_a_function(july: Lab) -> None:
    def nobody(groups: Sequence[Group], round_: int) -> Sequence[Group]:
        return ()

    simulation = july.run(Policy(order=nobody))
    assert not any(trial.step == "rounds" for trial in simulation.trials)
    assert any(trial.step == "final" and trial.merged for trial in simulation.trials)
