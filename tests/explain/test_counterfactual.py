"""What early merges did to a fusion, by segmenting it without them."""

from __future__ import annotations

from segscope.explain import Explanation, explain
from tests.segmenter.exact import one

LOGS = "null_0.2.8_llama2-13b_log_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_resize-off_log_forward"


def told(explanation: Explanation) -> dict[tuple[int, ...], tuple[tuple[int, int], tuple[int, int]]]:
    """The counts by the trials that were refused, from 1."""
    assert explanation.history
    merges = explanation.history.merges
    return {
        tuple(merges[index].trial + 1 for index in found.merges): (found.kernel_groups, found.others)
        for found in explanation.counterfactuals
    }


def test_the_early_merges_of_july_2024_cost_two_kernels() -> None:
    found = explain(one(LOGS[0]))
    assert told(found) == {(5,): ((6, 5), (5, 3)), (12,): ((6, 5), (5, 3)), (5, 12): ((6, 4), (5, 1))}
    assert [counterfactual.unknown for counterfactual in found.counterfactuals] == [0, 0, 0]
    assert Explanation.model_validate_json(found.model_dump_json()) == found


def test_where_nothing_is_blocked_nothing_is_refused() -> None:
    assert explain(one(LOGS[1])).counterfactuals == ()


def test_groups_that_the_segmenter_does_not_make_prove_nothing() -> None:
    """Two groups are one here: the log still blames the early merges, and the lab makes other groups than these."""
    july = one(LOGS[0])
    a, b = july.groups[2], july.groups[3]
    groups = tuple(
        group.model_copy(update={"expr_ids": (*a.expr_ids, *b.expr_ids), "outputs": (*a.outputs, *b.outputs)})
        if group is a
        else group.model_copy(update={"index": group.index - (group.index > b.index)})
        for group in july.groups
        if group is not b
    )
    places = {group.index: group.index - (group.index > b.index) for group in july.groups} | {b.index: a.index}
    edges = tuple(
        dict.fromkeys(
            edge.model_copy(update={"source": places[edge.source], "target": places[edge.target]})
            for edge in july.edges
        )
    )
    other = explain(july.model_copy(update={"groups": groups, "edges": edges}))
    assert other.blocked
    assert any(pair.early is not None for pair in other.blocked)
    assert other.counterfactuals == ()
