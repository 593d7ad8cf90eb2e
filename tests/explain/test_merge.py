"""What would become of groups as one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.checks import check
from segscope.errors import SegscopeError
from segscope.explain import merge
from segscope.model import Capture, SegmentedFusion, Tensor
from tests.checks.handmade import fusion as handmade
from tests.checks.handmade import tensor

Fixture = Callable[[str], Capture]


def test_equal_extents_in_other_words_are_one_reduction() -> None:
    def reduced(name: str, extent: str) -> Tensor:
        dims = tensor(name, (4, 128)).domain
        last = dims[1].model_copy(update={"iter_type": "r", "extent": extent})
        return tensor(name).model_copy(update={"domain": (dims[0], last)})

    tensors = (reduced("T1", "128"), reduced("T2", "( 64 + 64 )"))
    groups = (("reduction", "T1 = reduction(T0)"), ("reduction", "T2 = reduction(T0)"))
    assert merge(handmade(["T0"], ["T1", "T2"], *groups, tensors=tensors), 0, 1).broken == ()


@pytest.fixture
def july(fixture_capture: Fixture) -> SegmentedFusion:
    return fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion


def test_the_merge_that_a_cycle_forbids(july: SegmentedFusion) -> None:
    answer = merge(july, 1, 10)
    assert (answer.path, answer.values) == ((1, 7, 10), ("T8", "T15"))
    assert answer.along == (2, 3, 4, 5, 6, 7, 8, 9)
    assert not answer.is_legal
    assert answer.broken == ()


def test_a_rule_that_the_merged_group_would_break(july: SegmentedFusion) -> None:
    answer = merge(july, 7, 10)
    assert answer.path == ()
    (broken,) = answer.broken
    assert (broken.rule, broken.tensors) == ("boundary", ("T15",))
    assert broken.text.startswith("pad T16 in #10 reads T15, computed by #7")


def test_several_groups_and_scalars() -> None:
    chain = handmade(
        ["T0"],
        ["T4"],
        ("pointwise", "T1 = exp(T0)"),
        ("no_op", "i1 = exp(T1)"),
        ("pointwise", "T2 = +(T1, i1)"),
        ("pointwise", "T4 = exp(T2)"),
    )
    answer = merge(chain, 0, 2)
    assert (answer.path, answer.values, answer.along) == ((0, 1, 2), ("T1", "i1"), (1,))
    assert merge(chain, 2, 3).is_legal
    assert merge(chain, 0, 1, 2, 3).is_legal


def test_the_log_is_asked(fixture_capture: Fixture) -> None:
    answer = merge(fixture_capture("null_0.2.8_llama2-13b_log_forward").fusion, 1, 4)
    assert (answer.trial, answer.accepted, answer.is_legal) == (186, None, False)
    assert "Broadcasting dimension might be broadcasting to multiple sizes" in answer.refusals[-4].reason


def test_groups_that_have_nothing_to_do_with_each_other() -> None:
    two = handmade(["T0"], ["T1", "T2"], ("pointwise", "T1 = exp(T0)"), ("expr_eval", "T2 = matmul(T0, T0)"))
    answer = merge(two, 0, 1)
    assert not answer.connected
    assert [broken.rule for broken in answer.broken] == ["operation"]


def test_what_cannot_be_merged_is_said(july: SegmentedFusion) -> None:
    with pytest.raises(SegscopeError, match="at least two groups"):
        merge(july, 3, 3)
    with pytest.raises(SegscopeError, match="no group at position 11; there are 0 to 10"):
        merge(july, 3, 11)


@st.composite
def layered(draw: st.DrawFn) -> SegmentedFusion:
    size = draw(st.integers(2, 7))
    groups = []
    for n in range(size):
        reads = draw(st.lists(st.integers(0, n), min_size=1, max_size=2, unique=True))
        groups.append(("pointwise", f"T{n + 1} = +({', '.join(f'T{r}' for r in reads)})"))
    return handmade(["T0"], [f"T{size}"], *groups)


@given(layered(), st.data())
def test_a_merge_is_legal_where_the_merged_fusion_has_no_cycle(fusion: SegmentedFusion, data: st.DataObject) -> None:
    size = len(fusion.groups)
    members = data.draw(st.lists(st.integers(0, size - 1), min_size=2, max_size=size, unique=True))
    answer = merge(fusion, *members)
    assert bool(answer.path) == bool(check(joined(fusion, members), select=["cycle"]))
    edges = {(cut.source, cut.target): cut.values for cut in fusion.cuts}
    assert all(value in edges[step] for step, value in zip(pairwise(answer.path), answer.values, strict=True))
    assert check(joined(fusion, [*members, *answer.along]), select=["cycle"]) == []


def joined(fusion: SegmentedFusion, members: list[int]) -> SegmentedFusion:
    """The fusion with the members as its first group."""
    order = [sorted(members), *([index] for index in range(len(fusion.groups)) if index not in members)]
    groups = []
    for position, indices in enumerate(order):
        parts = [fusion.groups[index] for index in indices]
        made = {name for part in parts for name in part.outputs}
        groups.append(
            parts[0].model_copy(
                update={
                    "index": position,
                    "inputs": tuple(n for n in dict.fromkeys(n for p in parts for n in p.inputs) if n not in made),
                    "outputs": tuple(n for part in parts for n in part.outputs),
                    "expr_ids": tuple(i for part in parts for i in part.expr_ids),
                }
            )
        )
    return fusion.model_copy(update={"groups": tuple(groups), "edges": ()})
