"""How few kernels would do, with proofs that are checked by something that knows nothing of how they were found."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from segscope.checks import check
from segscope.dump import read
from segscope.errors import SegscopeError
from segscope.explain import Headroom, headroom, questions, rules_of, verify
from segscope.model import SegmentedFusion
from tests.conftest import DUMPS, FIXTURES

from .verifier import dead, flaws

JULY = "null_0.2.8_llama2-13b_bookend0_forward"
TODAY = "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"


def fusion(name: str) -> SegmentedFusion:
    return read(FIXTURES / f"{name}.txt").fusion


def test_a_statement_without_its_outputs_leaves_no_headroom() -> None:
    known = fusion(JULY)
    lost = known.exprs[-1].model_copy(update={"kind": "unknown", "outputs": (), "inputs": ("T27",)})
    with pytest.raises(SegscopeError, match=f"what expression {lost.id} defines is not known, so no headroom is"):
        headroom(known.model_copy(update={"exprs": (*known.exprs[:-1], lost)}))


def fewest(found: Headroom) -> dict[tuple[str, bool], int]:
    assert all(bound.exact for bound in found.bounds)
    return {(bound.rules, bound.connected): bound.fewest for bound in found.bounds}


def test_six_kernels_of_july_2024() -> None:
    found = headroom(fusion(JULY))
    assert found.kernel_groups == 6
    assert fewest(found) == {
        ("boundary", True): 4,
        ("boundary", False): 2,
        ("resize", True): 2,
        ("resize", False): 1,
    }
    proof = found.bound("boundary", connected=True).proof
    assert [group.outputs for group in proof.kernel_groups] == [("T15",), ("T48",), ("T35",), ("T52",)]
    q, k = found.bound("resize", connected=True).proof.kernel_groups
    assert (q.outputs, k.outputs) == (("T48",), ("T52",))


def test_today_leaves_no_headroom() -> None:
    found = headroom(fusion(TODAY))
    assert found.kernel_groups == found.bound("resize", connected=True).fewest == 2


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
def test_every_proof_is_a_segmentation_by_the_rules(path: Path) -> None:
    for original in read(path).fusions:
        for bound in headroom(original).bounds:
            assert flaws(original, bound.proof, bound.rules, connected=bound.connected) == []
            assert check(bound.proof, select=["cycle", "order"]) == []
            assert not dead(bound.proof) or dead(original)
            assert bound.at_least <= bound.fewest


def test_the_verifier_sees_what_is_wrong() -> None:
    july = fusion(JULY)
    proof = headroom(july).bound("resize", connected=True).proof
    assert flaws(july, proof, "resize", connected=True) == []
    assert any("which its kernel computes" in flaw for flaw in flaws(july, proof, "boundary", connected=True))
    both = headroom(july).bound("boundary", connected=False).proof
    assert any("does not hang together" in flaw for flaw in flaws(july, both, "boundary", connected=True))
    fewer = proof.model_copy(update={"groups": proof.groups[:-1], "edges": ()})
    assert "not every expression is in a group" in flaws(july, fewer, "resize", connected=True)


def test_an_up_cast_that_a_pad_reads_needs_a_kernel() -> None:
    """In phi-2's backward pass: it is in memory for the pad, so no reader can repeat it."""
    (capture,) = [path for path in DUMPS if path.stem == "h200_0.2.36_phi-2_bookend0_resize-off_forward+backward"]
    backward = read(capture).fusions[1]
    found = headroom(backward)
    assert found.bound("boundary", connected=True).proof.exprs == backward.exprs
    assert found.bound("boundary", connected=True).fewest > found.bound("resize", connected=True).fewest


def test_groups_of_other_schedulers_stay() -> None:
    gpt = read(FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt").fusions
    kept = [f for f in gpt if any("persistent" in group.scheduler for group in f.kernel_groups)]
    assert kept
    for original in kept:
        for bound in headroom(original).bounds:
            schedulers = [group.scheduler for group in bound.proof.kernel_groups]
            for group in original.kernel_groups:
                if "persistent" in group.scheduler:
                    assert group.scheduler in schedulers


def test_out_of_time_says_how_few_there_may_be() -> None:
    backward = read(FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward+backward.txt").fusions[1]
    bound = headroom(backward, ["boundary"], seconds=0).bound("boundary", connected=True)
    assert bound.method == "solver"
    assert bound.at_least < 6 <= bound.fewest
    assert flaws(backward, bound.proof, "boundary", connected=True) == []


def test_without_the_solver_it_is_called_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("segscope.explain.headroom"), "find_spec", lambda name: None)
    bound = headroom(fusion(JULY), ["boundary"]).bound("boundary", connected=True)
    assert (bound.method, bound.at_least, bound.fewest) == ("greedy", 4, 4)
    backward = read(FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward+backward.txt").fusions[1]
    bound = headroom(backward, ["boundary"]).bound("boundary", connected=True)
    assert bound.method == "greedy"
    assert not bound.exact


def test_rules_are_known_and_were_asked_for() -> None:
    assert (rules_of(fusion(JULY)), rules_of(fusion(TODAY))) == ("boundary", "resize")
    with pytest.raises(SegscopeError, match="unknown rules 'none'; valid: boundary, resize"):
        headroom(fusion(JULY), ["none"])  # type: ignore[list-item]
    with pytest.raises(SegscopeError, match="not asked for under the rules 'resize'"):
        headroom(fusion(JULY), ["boundary"]).bound("resize", connected=True)


def test_headroom_goes_through_json() -> None:
    found = fusion(JULY).headroom()
    assert Headroom.model_validate_json(found.model_dump_json()) == found


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("name", "rules", "toolchain", "accepted"),
    [
        (JULY, "boundary", "nvfuser-0.2.8", ["pointwise"] * 4),
        (TODAY, "resize", "nvfuser-0.2.36", ["resize"] * 2),
        ("h200_0.2.36_tiny-llama-1.1b_bookend0_forward", "resize", "nvfuser-0.2.36", ["pointwise", "resize", "resize"]),
    ],
    ids=["July 2024", "today", "today, tiny-llama"],
)
def test_nvfuser_accepts_the_proof(
    name: str, rules: str, toolchain: str, accepted: list[str], need_toolchain: Callable[[str], str]
) -> None:
    original = fusion(name)
    proof = headroom(original).bound(rules, connected=True).proof  # type: ignore[arg-type]
    answers = verify(original, list(questions(proof).values()), toolchain=need_toolchain(toolchain))
    assert [answer.accepted for answer in answers] == accepted
