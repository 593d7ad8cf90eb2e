"""The loop with any oracle and any policy: what comes out is a segmentation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.graph import successors, topological_order
from segscope.model import SegmentedFusion
from segscope.segmenter import (
    Accepted,
    Answer,
    Candidate,
    Lab,
    Oracle,
    Policy,
    Refused,
    Unknown,
    Version,
    Whole,
    simulate,
    version,
)
from segscope.segmenter.policy import Shuffled, front
from tests.checks.handmade import fusion
from tests.segmenter.exact import groups, one

NAMES = (
    "null_0.2.8_tinyllama_bookend0_forward",
    "h200_0.2.36_phi-2_bookend0_forward",
    "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_forward",
)


@lru_cache
def dump(name: str) -> SegmentedFusion:
    return one(name)


class Told:
    """Answers by the tensors that a set defines."""

    def __init__(self, whole: Whole, accepted: Sequence[str], unknown: Sequence[str] = ()) -> None:
        self._whole = whole
        self._accepted = [frozenset(names.split()) for names in accepted]
        self._unknown = [frozenset(names.split()) for names in unknown]

    def answer(self, candidate: Candidate) -> Answer:
        tensors = frozenset(self._whole.names(candidate.nodes))
        if tensors in self._unknown:
            return Unknown(why="not told")
        taken = len(tensors) == 1 or tensors in self._accepted
        return Accepted(scheduler="pointwise") if taken else Refused(reason="told so")

    def settle(self) -> bool:
        return False


class Dice:
    """Answers at random, the same for the same set; a single expression is always taken."""

    def __init__(self, whole: Whole, seed: int, odds: float) -> None:
        self._seed = seed
        self._odds = odds

    def answer(self, candidate: Candidate) -> Answer:
        throw = random.Random(f"{self._seed}:{candidate.nodes}").random()
        return Accepted(scheduler="pointwise") if throw < self._odds else Refused(reason="bad luck")

    def settle(self) -> bool:
        return False


@given(
    st.sampled_from(NAMES),
    st.sampled_from(["0.2.8", "0.2.26", "0.2.36"]),
    st.integers(0, 10**6),
    st.floats(0.1, 1),
    st.booleans(),
    st.booleans(),
)
def test_whatever_is_accepted_the_groups_are_a_segmentation(
    name: str, number: str, seed: int, odds: float, operands: bool, in_front: bool
) -> None:
    real = dump(name)

    def dice(whole: Whole, version: Version, *, boundary: bool) -> Oracle:
        return Dice(whole, seed, odds)

    policy = Policy(order=Shuffled(seed), whole_operand_sets=operands)
    if in_front:
        policy = Policy(order=Shuffled(seed), place=front, one_pair_a_round=True)
    simulated = simulate(real, oracle=dice, version=number, policy=policy).fusion
    SegmentedFusion.model_validate(simulated.model_dump())
    order = topological_order(successors(len(simulated.groups), ((e.source, e.target) for e in simulated.edges)))
    assert order.nodes == tuple(range(len(simulated.groups)))
    made = [{name for e in simulated.exprs_of(group) for name in e.tensor_outputs} for group in simulated.groups]
    for group in simulated.groups:
        read = {name for e in simulated.exprs_of(group) for name in e.tensor_inputs} - made[group.index]
        assert read == {name for name in group.inputs if name.startswith("T")}
        assert set(group.outputs) <= made[group.index]
        from_others = {e.value for e in simulated.edges if e.target == group.index}
        assert from_others == read - set(simulated.inputs)
    assert set(simulated.outputs) <= set().union(*made) | set(simulated.inputs)
    kept = {e.kind for e in simulated.exprs}
    assert kept == {e.kind for e in real.exprs}


def run(cut: SegmentedFusion, *accepted: str, unknown: Sequence[str] = (), number: str = "0.2.8") -> Lab:
    def told(whole: Whole, version: Version, *, boundary: bool) -> Oracle:
        return Told(whole, accepted, unknown)

    return Lab(cut, oracle=told, version=version(number))


DIAMOND = fusion(
    ["T0", "T9"],
    ["T5"],
    ("pointwise", "T1 = +(T0, T9)"),
    ("pointwise", "T2 = exp(T1)"),
    ("pointwise", "T3 = -(T1)"),
    ("pointwise", "T4 = exp(T3)"),
    ("pointwise", "T5 = +(T2, T4)"),
)


def test_what_is_unknown_is_not_merged() -> None:
    simulation = run(DIAMOND, unknown=["T1 T2"]).run()
    assert groups(simulation.fusion) == [("T1",), ("T2",), ("T3",), ("T4",), ("T5",)]
    assert {trial.tensors for trial in simulation.unknown} == {frozenset({"T1", "T2"})}


def test_a_merge_that_would_close_a_cycle_is_not_offered() -> None:
    """T2 and T5 would wait for T4, which waits for T1; with T1 they may come."""
    simulation = run(DIAMOND, "T1 T2", "T1 T2 T5").run()
    assert frozenset({"T1", "T2", "T5"}) not in {trial.tensors for trial in simulation.trials if trial.step != "whole"}
    assert groups(simulation.fusion) == [("T1", "T2"), ("T3",), ("T4",), ("T5",)]


def test_over_an_output_of_the_fusion_only_the_final_step_merges() -> None:
    cut = fusion(["T0", "T9"], ["T1", "T2"], ("pointwise", "T1 = +(T0, T9)"), ("pointwise", "T2 = +(T1, T9)"))
    simulation = run(cut, "T1 T2").run()
    assert simulation.trials[0].merged  # as a whole
    refused = run(cut).run()
    assert {trial.step for trial in refused.trials} == {"whole", "type", "final"}


def test_a_forwarded_chain_goes_to_each_reader() -> None:
    cut = fusion(
        ["T0", "T8", "T9"],
        ["T2", "T3"],
        ("pointwise", "T1 = exp(T0); T2 = +(T1, T8)"),
        ("pointwise", "T1 = exp(T0); T3 = +(T1, T9)"),
    )
    assert groups(run(cut, "T1 T2").run().fusion) == [("T1",), ("T1", "T2"), ("T3",)]
    simulated = run(cut, "T1 T2", "T1 T3").run().fusion
    assert groups(simulated) == [("T1", "T2"), ("T1", "T3")]
    assert simulated.edges == ()


def test_a_hint_is_never_inside_a_group() -> None:
    cut = fusion(
        ["T0", "T9"],
        ["T3"],
        ("pointwise", "T1 = +(T0, T9); T2 = segmenter_set(T1)"),
        ("pointwise", "T3 = +(T2, T9)"),
    )
    simulation = run(cut, "T1 T2", "T2 T3", "T1 T2 T3").run()
    assert groups(simulation.fusion) == [("T1", "T2"), ("T3",)]
    assert all(trial.step != "whole" for trial in simulation.trials)


def test_copies_in_one_group_become_one_again() -> None:
    cut = fusion(
        ["T0"],
        ["T4"],
        ("pointwise", "T1 = __bfloat2float(T0); T2 = exp(T1); T3 = -(T1); T4 = +(T2, T3)"),
    )
    lab = run(cut, "T1 T2", "T3 T5", "T1 T2 T3 T4 T5", "T1 T2 T4", "T3 T4 T5", number="0.2.26")
    simulated = lab.run().fusion
    names = {name for expr in simulated.exprs for name in expr.outputs}
    assert len(simulated.groups) == 1
    assert names == {"T1", "T2", "T3", "T4"}


@pytest.mark.parametrize(("number", "offered"), [("0.2.36", True), ("0.2.27.dev20250515", False)])
def test_a_cat_and_its_pads_come_first(number: str, offered: bool) -> None:
    real = dump("h200_0.2.36_phi-2_bookend0_forward")
    steps = {trial.step for trial in simulate(real, version=number).trials}
    assert ("cat_with_pads" in steps) == offered
