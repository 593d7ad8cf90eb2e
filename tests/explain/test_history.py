"""Which merges made the groups, and which made others impossible: on the real logs of July 2024 and of today."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from segscope.explain.blocked import Blocked, blocked
from segscope.explain.history import History, Merge, history, history_tree
from segscope.model import Capture, SegmentedFusion, SegmenterLog, Trial
from tests.checks.handmade import fusion as handmade

JULY = "null_0.2.8_llama2-13b_log_forward"
TODAY = "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_log_forward"
BOTH = pytest.mark.parametrize("name", [JULY, TODAY])

Read = Callable[[str], Capture]


def told(fusion: SegmentedFusion) -> tuple[History, SegmenterLog]:
    found = history(fusion)
    assert found is not None
    assert fusion.log is not None
    return found, fusion.log


def tensors(merge: Merge) -> set[str]:
    return {name for name in merge.outputs if name.startswith("T")}


def with_log(fusion: SegmentedFusion, *trials: str) -> SegmentedFusion:
    """Add a log in which every trial, such as ``T1 T2``, was accepted."""
    ids = {name: expr.id for expr in fusion.exprs for name in expr.outputs}
    log = SegmenterLog(
        whole=None,
        has_hints=True,
        trials=tuple(
            Trial(
                line=line,
                outputs=tuple(text.split()),
                expr_ids=tuple(ids[name] for name in text.split() if name in ids),
                refusals=(),
                accepted="pointwise",
            )
            for line, text in enumerate(trials, 1)
        ),
    )
    return fusion.model_copy(update={"log": log})


@BOTH
def test_the_roots_are_the_groups_of_the_fusion(name: str, fixture_capture: Read) -> None:
    fusion = fixture_capture(name).fusion
    found, _ = told(fusion)
    swallowed = [part for merge in found.merges for part in merge.parts]
    assert len(swallowed) == len(set(swallowed))
    roots = set(range(len(found.merges))) - set(swallowed)
    assert roots == {index for index in found.groups if index is not None}
    for group, index in zip(fusion.groups, found.groups, strict=True):
        made = {name for expr in fusion.exprs_of(group) for name in expr.tensor_outputs}
        if index is None:
            assert len(made) == 1
        else:
            assert tensors(found.merges[index]) == made


@BOTH
def test_merges_are_in_order_of_time_and_hold_their_parts(name: str, fixture_capture: Read) -> None:
    found, log = told(fixture_capture(name).fusion)
    trials = [merge.trial for merge in found.merges]
    assert trials == sorted(set(trials))
    for index, merge in enumerate(found.merges):
        first, second = log.trials[merge.trial], log.trials[merge.executed]
        assert merge.trial < merge.executed
        assert (merge.outputs, merge.expr_ids, merge.accepted) == (first.outputs, first.expr_ids, first.accepted)
        assert set(second.outputs) == set(first.outputs)
        assert all(part < index for part in merge.parts)
        held = [tensors(found.merges[part]) for part in merge.parts]
        assert sum(map(len, held)) == len(set().union(*held))
        assert set().union(*held) <= tensors(merge)


def test_the_two_early_merges_of_july_2024_and_what_they_block(fixture_capture: Read) -> None:
    fusion = fixture_capture(JULY).fusion
    found, _ = told(fusion)
    q, k = blocked(fusion, found)
    assert (q.source, q.target, q.value, q.path, q.values) == (1, 10, "T23", (1, 7, 10), ("T8", "T15"))
    assert (k.source, k.target, k.value, k.path, k.values) == (4, 9, "T40", (4, 8, 9), ("T9", "T35"))
    expected = {q: (("T8", "T21"), 5, 18, "T23", 32), k: (("T9", "T39"), 12, 25, "T40", 36)}
    for pair, (outputs, trial, executed, value, last) in expected.items():
        assert pair.early is not None
        assert pair.merge is not None
        early, merge = found.merges[pair.early], found.merges[pair.merge]
        assert (early.outputs, early.trial + 1, early.executed + 1) == (outputs, trial, executed)
        assert (merge.parts, merge.trial + 1, tensors(merge)) == ((pair.early,), last, {*outputs, value})


def test_what_grew_from_the_early_merge(fixture_capture: Read) -> None:
    fusion = fixture_capture(JULY).fusion
    lines = history_tree(fusion, told(fusion)[0]).splitlines()
    at = lines.index("#1 pointwise")
    assert lines[at : at + 8] == [
        "#1 pointwise",
        "  trial 111 (executed as 114) pointwise: trial 32 + trial 31",
        "    trial 32 (executed as 41) pointwise: trial 5 + T23 mul",
        "      trial 5 (executed as 18) pointwise: T8 squeeze + T21 cast",
        "    trial 31 (executed as 40) pointwise: trial 6 + T22 cast",
        "      trial 6 (executed as 19) no_op: T19 broadcast + T20 expand",
        "#2 no_op: T11 slice",
        "#3 no_op: T45 slice",
    ]


@BOTH
def test_the_tree_shows_every_merge_and_every_expression_once(name: str, fixture_capture: Read) -> None:
    fusion = fixture_capture(name).fusion
    found, _ = told(fusion)
    text = history_tree(fusion, found)
    for merge in found.merges:
        assert text.count(f"  trial {merge.trial + 1} (executed as {merge.executed + 1}) ") == 1
    words = text.replace(",", "").split()
    assert all(words.count(name) == 1 for expr in fusion.exprs for name in expr.tensor_outputs)


def test_today_nothing_is_blocked(fixture_capture: Read) -> None:
    fusion = fixture_capture(TODAY).fusion
    assert blocked(fusion, told(fusion)[0]) == ()


def test_without_a_log_there_is_no_history(fixture_capture: Read) -> None:
    assert history(fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion) is None


@BOTH
def test_a_log_that_is_cut_off_tells_the_merges_made_until_then(name: str, fixture_capture: Read) -> None:
    fusion = fixture_capture(name).fusion
    whole, log = told(fusion)
    for end in range(len(log.trials)):
        short = fusion.model_copy(update={"log": log.model_copy(update={"trials": log.trials[:end]})})
        found, _ = told(short)
        assert found.merges == tuple(merge for merge in whole.merges if merge.executed < end)
        assert all(index in (None, of_whole) for index, of_whole in zip(found.groups, whole.groups, strict=True))
        roots = set(range(len(found.merges))) - {part for merge in found.merges for part in merge.parts}
        tree = history_tree(short, found)
        assert ("of which the log does not tell the group" in tree) == bool(roots - set(found.groups))
        assert [pair.path for pair in blocked(short, found)] == [pair.path for pair in blocked(fusion, whole)]


def test_before_the_merge_in_the_log_it_is_not_known_what_blocks(fixture_capture: Read) -> None:
    fusion = fixture_capture(JULY).fusion
    _, log = told(fusion)
    short = fusion.model_copy(update={"log": log.model_copy(update={"trials": log.trials[:18]})})
    q, k = blocked(short, told(short)[0])
    assert (q.merge, k.merge, k.early) == (None, None, None)
    assert q.early == 1


@BOTH
def test_a_dump_that_is_cut_off_in_its_segments_has_a_history(name: str, fixture_capture: Read) -> None:
    fusion = fixture_capture(name).fusion
    whole, _ = told(fusion)
    kept = fusion.groups[:5]
    ids = {i for group in kept for i in group.expr_ids}
    short = fusion.model_copy(
        update={
            "groups": kept,
            "edges": tuple(edge for edge in fusion.edges if max(edge.source, edge.target) < 5),
            "exprs": tuple(expr for expr in fusion.exprs if expr.id in ids),
            "complete": False,
        }
    )
    again = SegmentedFusion.model_validate(short.model_dump())
    found, _ = told(again)
    of_whole = [None if i is None else whole.merges[i].trial for i in whole.groups[:5]]
    assert [None if i is None else found.merges[i].trial for i in found.groups] == of_whole
    assert len(history_tree(again, found).splitlines()) >= 5


@pytest.mark.parametrize("extra", ["T16 T26", "T8 T12", "T8 T12|T8 T12"])
def test_a_candidate_that_was_not_taken_is_no_merge(extra: str, fixture_capture: Read) -> None:
    """A set that was accepted once, or that no group holds."""
    fusion = fixture_capture(JULY).fusion
    whole, log = told(fusion)
    tried = with_log(fusion, *extra.split("|")).log
    assert tried is not None
    end = len(log.trials) - len(fusion.groups)
    trials = (*log.trials[:end], *tried.trials, *log.trials[end:])
    assert history(fusion.model_copy(update={"log": log.model_copy(update={"trials": trials})})) == whole


def test_a_chain_behind_a_forwarded_input_is_no_merge_in_any_of_its_groups() -> None:
    chain = ("pointwise", "T1 = exp(T0); T2 = exp(T1)")
    fusion = handmade(["T0"], ["T3", "T4"], chain, chain, ("resize", "T3 = slice(T2)"), ("resize", "T4 = slice(T2)"))
    found, _ = told(with_log(fusion, "T3", "T4", "T3", "T4", "T1 T2", "T1 T2"))
    assert (found.merges, found.groups) == ((), (None,) * 4)


def test_merges_that_share_a_replicated_expression_are_apart() -> None:
    fusion = handmade(
        ["T0"], ["T2", "T3"], ("pointwise", "T1 = exp(T0); T2 = exp(T1)"), ("resize", "T1 = exp(T0); T3 = slice(T1)")
    )
    found, _ = told(with_log(fusion, "T2", "T3", "T1 T2", "T1 T2", "T1 T3", "T1 T3", "T1 T2", "T1 T3"))
    assert [(merge.outputs, merge.parts) for merge in found.merges] == [(("T1", "T2"), ()), (("T1", "T3"), ())]
    assert found.groups == (0, 1)


def test_copies_that_nvfuser_took_back() -> None:
    fusion = handmade(["T0"], ["T3"], ("pointwise", "T1 = __bfloat2float(T0); T2 = exp(T1); T3 = +(T1, T2)"))
    found, _ = told(
        with_log(fusion, "T3", "T1 T2", "T1 T2", "T9 T3", "T9 T3", "T1 T2 T9 T3", "T1 T2 T9 T3", "T1 T2 T3")
    )
    assert [(merge.outputs, merge.parts) for merge in found.merges] == [
        (("T1", "T2"), ()),
        (("T9", "T3"), ()),
        (("T1", "T2", "T9", "T3"), (0, 1)),
    ]
    assert found.groups == (2,)
    assert "T9 (a copy) + T3 add" in history_tree(fusion, found)


def test_a_pair_that_was_apart_from_the_beginning_has_no_merge_to_blame() -> None:
    fusion = handmade(
        ["T0"],
        ["T3"],
        ("pointwise", "T1 = exp(T0)"),
        ("pointwise", "T2 = slice(T1)"),
        ("pointwise", "T3 = +(T1, T2)"),
    )
    (pair,) = blocked(fusion, told(with_log(fusion, "T1", "T2", "T3"))[0])
    assert pair == Blocked(source=0, target=2, value="T1", path=(0, 1, 2), values=("T1", "T2"), merge=None, early=None)


def test_a_merge_of_the_readers_blocks_too() -> None:
    """T1 could join T3 until T3 came to T5, which also waits for the slice; T3 could not have both since T4 had T5."""
    fusion = handmade(
        ["T0"],
        ["T5"],
        ("pointwise", "T1 = exp(T0)"),
        ("pointwise", "T2 = slice(T1)"),
        ("pointwise", "T3 = exp(T1); T4 = exp(T3); T5 = +(T4, T2)"),
    )
    found, _ = told(with_log(fusion, "T5", "T4 T5", "T4 T5", "T3 T4 T5", "T3 T4 T5", "T1", "T2", "T3 T4 T5"))
    (pair,) = blocked(fusion, found)
    assert (pair.early, pair.merge, found.merges[1].parts) == (0, 1, (0,))


def test_one_reader_that_could_be_joined_is_enough() -> None:
    """T5 waits for the slice of T1 from the beginning; T3 does not, until it is one group with T5."""
    fusion = handmade(
        ["T0"],
        ["T5"],
        ("pointwise", "T1 = exp(T0)"),
        ("pointwise", "T2 = slice(T1)"),
        ("pointwise", "T3 = exp(T1); T5 = ternary(T1, T3, T2)"),
    )
    (pair,) = blocked(fusion, told(with_log(fusion, "T5", "T3 T5", "T3 T5", "T1", "T2", "T3 T5"))[0])
    assert (pair.merge, pair.early) == (0, 0)


def test_of_several_values_the_one_that_could_be_joined_the_longest() -> None:
    """T1 and T6 cross. T6 and T7 lie between T1 and T5, but are of the same two groups: they could be taken along."""
    fusion = handmade(
        ["T0"],
        ["T9"],
        ("pointwise", "T1 = exp(T0); T6 = exp(T1); T8 = exp(T1)"),
        ("pointwise", "T2 = slice(T8)"),
        ("pointwise", "T5 = +(T1, T7); T9 = +(T5, T2); T7 = exp(T6)"),
    )
    assert fusion.cuts[-2:] == ((0, 2, ("T1", "T6")), (1, 2, ("T2",)))
    merges = ("T1 T8", "T5 T9", "T1 T6 T8", "T5 T7 T9")
    made = (trial for merge in merges for trial in (merge, merge))
    (pair,) = blocked(fusion, told(with_log(fusion, "T9", *made, "T2", "T1 T6 T8", "T5 T7 T9"))[0])
    assert (pair.value, pair.merge, pair.early) == ("T6", 3, 2)


def test_of_two_second_ways_the_shorter_then_the_one_over_kernel_groups() -> None:
    view, kernel = ("no_op", "T2 = slice(T1)"), ("pointwise", "T3 = slice(T1)")
    ends = ("pointwise", "T1 = exp(T0)"), ("pointwise", "T5 = ternary(T1, T2, T3)")
    found = handmade(["T0"], ["T5"], ends[0], view, kernel, ends[1])
    empty = History(merges=(), groups=(None,) * 4)
    assert [pair.path for pair in blocked(found, empty)] == [(0, 2, 3)]
    longer = handmade(
        ["T0"],
        ["T5"],
        ends[0],
        view,
        kernel,
        ("pointwise", "T4 = exp(T3)"),
        ("pointwise", "T5 = ternary(T1, T2, T4)"),
    )
    assert [pair.path for pair in blocked(longer, History(merges=(), groups=(None,) * 5))] == [(0, 1, 4)]


@BOTH
def test_a_history_goes_through_json_without_loss(name: str, fixture_capture: Read) -> None:
    fusion = fixture_capture(name).fusion
    found, _ = told(fusion)
    assert History.model_validate_json(found.model_dump_json()) == found
    for pair in blocked(fusion, found):
        assert Blocked.model_validate_json(pair.model_dump_json()) == pair
