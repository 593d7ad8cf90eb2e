"""The real nvFuser as the oracle, and as the judge of the rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope.compare.diff import diff
from segscope.errors import SegscopeError
from segscope.segmenter import Accepted, Lab, Policy, Real, Rules, Unknown, real, simulate, version
from segscope.segmenter.privatise import undone
from tests.segmenter.convex import convex_sets
from tests.segmenter.exact import differences, one
from tests.segmenter.test_policies import K, Q

pytestmark = pytest.mark.toolchain

Need = Callable[[str], str]


@pytest.fixture
def july(need_toolchain: Need) -> Lab:
    oracle = real(toolchain=need_toolchain("nvfuser-0.2.8"), device="null")
    return Lab(one("null_0.2.8_llama2-13b_bookend0_forward"), oracle=oracle, version="0.2.8")


def test_july_2024_makes_six_and_four_without_two_early_merges(july: Lab) -> None:
    own, other = july.run(), july.run(Policy(refuse=frozenset({Q, K})))
    assert differences(one("null_0.2.8_llama2-13b_bookend0_forward"), own.fusion) == []
    assert (own.fusion.schedulers, own.unknown) == ({"pointwise": 6, "no_op": 5}, ())
    assert (other.fusion.schedulers, other.unknown) == ({"pointwise": 4, "no_op": 1}, ())


@pytest.mark.parametrize("name", ["Llama-2-13b-hf_bookend0_forward", "falcon-7b_bookend0_forward"])
def test_today_makes_the_groups_of_its_dump(name: str, need_toolchain: Need) -> None:
    dump = one(f"h200_0.2.36_{name}")
    oracle = real(toolchain=need_toolchain("nvfuser-0.2.36"), device="null")
    simulation = simulate(dump, oracle=oracle, version="0.2.36")
    assert diff(dump, simulation.fusion).changes == ()
    assert simulation.unknown == ()


@pytest.mark.parametrize(
    ("name", "number", "count"),
    [
        ("null_0.2.8_llama2-13b_bookend0_forward", "0.2.8", 380),
        ("null_0.2.8_tinyllama_bookend0_forward", "0.2.8", 380),
        ("h200_0.2.36_tiny-llama-1.1b_bookend0_forward", "0.2.36", 380),
        ("h200_0.2.36_phi-2_bookend0_forward", "0.2.36", 380),
    ],
)
def test_the_rules_say_what_nvfuser_says_of_random_sets(
    name: str, number: str, count: int, need_toolchain: Need
) -> None:
    at = version(number)
    whole = undone(one(name), at)
    asked, rules = Real(whole, at, toolchain=need_toolchain(f"nvfuser-{number}"), device="null"), Rules(whole, at)
    hints = {node for node, expr in enumerate(whole.exprs) if expr.kind == "segmenter_set"}
    sets = [found for found in convex_sets(whole, count, seed=1) if hints.isdisjoint(found.nodes)]
    assert len(sets) > count * 0.7
    for found in sets:
        asked.answer(found)
    assert asked.settle()
    told = [(whole.names(found.nodes), asked.answer(found), rules.answer(found)) for found in sets]
    differ = [one for one in told if isinstance(one[1], Accepted) != isinstance(one[2], Accepted)]
    assert differ == []
    assert not any(isinstance(answer, Unknown) for _, *answers in told for answer in answers)
    assert any(isinstance(answer, Accepted) for _, answer, _ in told)


def test_nvfuser_cannot_be_asked_without_its_boundary_rule() -> None:
    dump = one("null_0.2.8_llama2-13b_bookend0_forward")
    with pytest.raises(SegscopeError, match="nvFuser is asked with its defaults, which keep the boundary rule"):
        simulate(dump, oracle="real", version="0.2.8", policy=Policy(boundary=False))
