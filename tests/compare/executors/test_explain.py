"""Explanations, from what was recorded."""

from __future__ import annotations

from typing import Any

import pytest

from segscope.compare.executors.explain import explain
from segscope.compare.executors.model import Ablation, Comparison, Direction, Explanation, Run, Timing
from segscope.compare.executors.region import Region
from tests.render.executors.samples import NAMES, THUNDER_711, TODAY, forward, kernel, real, region, run

from .handmade import node

NVFUSER, CAT = "thunder+nvfuser", "thunder+torch.compile_cat+nvfuser"


def recorded(name: str, executor: str, direction: Direction) -> Explanation:
    return next(one for one in real(name).explanations if (one.executor, one.direction) == (executor, direction))


def again(comparison: Comparison, executor: str, direction: Direction, ablations: tuple[Ablation, ...]) -> Explanation:
    assert comparison.reference is not None
    one = next(one for one in comparison.runs if one.executor == executor)
    found = explain(one, comparison.reference, direction, ablations)
    assert found is not None
    return found


def trial(kernels: int | None, what: str, *edits: str, name: str = "graph0", **fields: Any) -> Ablation:
    facts = {"region": name, "edits": edits, "what": what, "kernels": kernels, "operations": 0, "problem": None}
    return Ablation.model_validate(facts | fields)


def made(*counts: int, executor: str = "thunder+x", **fields: Any) -> Run:
    """A run with regions of so many kernels."""
    found = [
        region(*(kernel(f"k{n}", ("add", n)) for n in range(count)), name=f"r{i}") for i, count in enumerate(counts)
    ]
    return run(executor, forward(*found, **fields))


def told(one: Run, other: Run, *ablations: Ablation, problem: str | None = None) -> str:
    found = explain(one, other, "forward", ablations, problem)
    assert found is not None
    return found.text


@pytest.mark.parametrize("name", NAMES)
def test_explanations_are_what_follows_from_the_record(name: str) -> None:
    comparison = real(name)
    for one in comparison.explanations:
        assert again(comparison, one.executor, one.direction, one.ablations) == one


def test_the_causes_of_the_report_are_the_trials_with_as_many_kernels_as_torch_compile() -> None:
    found = recorded(THUNDER_711, CAT, "forward")
    assert (found.kernels, found.reference_kernels) == (4, 2)
    assert [one.edits for one in found.causes] == [
        ("nothing-saved",),
        ("no-empty-cat",),
        ("no-float32",),
        ("no-opaque-index",),
        ("new-cat",),
    ]
    assert list(found.causes) == [one for one in found.ablations if one.kernels == 2]


def test_the_report_in_sentences() -> None:
    text = recorded(THUNDER_711, CAT, "forward").text
    assert text.startswith(
        f"Forward, {CAT} makes 4 kernels, torch.compile 2. It makes and keeps 67.1 MB for backward "
        "(float32 [2, 32, 2048, 64] and float32 [2, 32, 2048, 64]). Each of these alone makes it 2: the graph without "
        "the outputs that are only saved for backward; without the operands of cat that have no elements; "
    )
    assert "It makes 4 also with each split written as slices." in text
    assert (
        "That the graph is decomposed further than torch.compile's does not matter by itself: without the outputs that "
        "are only saved for backward it still has 50 operations against 32, and as many kernels."
    ) in text
    assert text.endswith("Inductor's reasons not to fuse in TorchCompile0: no shared data (9 times).")


def test_one_cause_is_one_change() -> None:
    found = recorded(TODAY, "thunder+torch.compile", "backward")
    assert [one.edits for one in found.causes] == [("no-float32",)]
    assert (
        "One change alone makes it 3: the graph with its math in the precision of its inputs instead of float32."
    ) in found.text


def test_as_many_kernels_are_one_sentence() -> None:
    comparison = real(TODAY)
    for executor in (NVFUSER, "thunder+torch.compile"):
        found = again(comparison, executor, "forward", ())
        assert found.text == f"Forward, {executor} makes as many kernels as torch.compile: 3."
        assert found.causes == ()


def test_nvfuser_says_why_its_groups_are_two() -> None:
    text = recorded(TODAY, NVFUSER, "backward").text
    assert "nvFuser cut nvFusion1 into 4 segments, 4 of them kernels. Groups g3 and g0 are two kernels: " in text
    assert "Groups g3 and g2 are two kernels: as one, they would wait for g0 and the other way round" in text


def test_there_is_nothing_to_explain_where_nothing_was_compiled() -> None:
    eager, compiled = real(TODAY).runs[:2]
    assert explain(eager, compiled, "forward", ()) is None
    assert explain(compiled, eager, "forward", ()) is None
    assert explain(made(1), compiled, "backward", ()) is None


def test_regions_are_ablated_each_for_itself() -> None:
    """Two regions make 2 + 3 kernels, torch.compile 4: a cause takes one kernel off, wherever."""
    trials = [
        trial(2, "as it is", name="r0"),
        trial(1, "without a", "a", name="r0"),
        trial(2, "without b", "b", name="r0"),
        trial(3, "as it is", name="r1"),
        trial(1, "without a", "a", name="r1"),
        trial(2, "without b", "b", name="r1"),
        trial(None, "without c", "c", name="r1", problem="Error: no"),
    ]
    found = explain(made(2, 3), made(4, executor="torch.compile"), "forward", trials)
    assert found is not None
    assert [(one.region, one.edits) for one in found.causes] == [("r0", ("a",)), ("r1", ("b",))]
    assert "In r0, one change alone makes it 1: the graph without a. In r0, it makes 2 also without b." in found.text
    assert "In r1, one change alone makes it 2: the graph without b." in found.text
    assert "It cut the trace into r0 and r1, of which each is compiled for itself." in found.text


def test_edits_that_come_first_are_told() -> None:
    trials = [
        trial(3, "with the up-casts as outputs", "save-upcasts"),
        trial(1, "without them", "save-upcasts", "nothing-saved"),
    ]
    trials = [one.model_copy(update={"region": "r0"}) for one in trials]
    text = told(made(1), made(1, executor="torch.compile"), *trials)
    assert text == (
        "Forward, thunder+x makes as many kernels as torch.compile: 1. With the up-casts as outputs, it makes 3. "
        "One change alone makes it 1: the graph without them."
    )


def test_what_changes_nothing_is_no_cause() -> None:
    trials = [trial(1, "as it is", name="r0"), trial(1, "without a", "a", name="r0")]
    found = explain(made(1), made(1, executor="torch.compile"), "forward", trials)
    assert found is not None
    assert found.causes == ()
    assert found.text.endswith("It makes 1 also without a.")


def test_decomposition_is_told_only_where_a_graph_has_more_operations() -> None:
    nodes = [node("x", "placeholder"), node("a", "aten.neg.default", "x"), node("output", "output", "a")]
    reference = run("torch.compile", forward(with_nodes(region(kernel("k", ("neg", 0))), nodes)))
    for operations, is_told in ((1, False), (2, True)):
        trials = [
            trial(2, "as it is", name="r0", operations=2),
            trial(1, "without a", "a", name="r0", operations=operations),
        ]
        assert ("decomposed further" in told(made(2), reference, *trials)) == is_told
    assert "it still has 2 operations against 1, and as many kernels" in told(made(2), reference, *trials)


def with_nodes(one: Region, nodes: list[Any]) -> Region:
    return one.model_copy(update={"nodes": tuple(nodes)})


def test_a_graph_that_does_not_compile_alone_says_why() -> None:
    found = explain(
        made(2),
        made(1, executor="torch.compile"),
        "forward",
        [trial(None, "as it is", name="r0", problem="no such edit")],
    )
    assert found is not None
    assert found.text.endswith("torch.compile 1. No such edit.")
    assert found.causes == ()


def test_trials_that_did_not_end_are_told() -> None:
    text = told(made(2), made(1, executor="torch.compile"), problem="was ended after 9 s.")
    assert text.endswith("Taking one thing at a time away did not get to its end: it was ended after 9 s.")


def test_what_is_kept_is_told_where_it_is_more() -> None:
    kept = [{"dtype": "float32", "shape": (4, 8), "bytes": 2_000_000}]
    other = made(1, executor="torch.compile", saved=kept)
    assert "It makes and keeps 2.0 MB for backward (float32 [4, 8])." in told(made(1, saved=kept), made(1))
    assert "keeps" not in told(made(1, saved=kept), other)


def test_times_and_what_the_autotuner_chose() -> None:
    def timing(us: float) -> Timing:
        return Timing(l2="warm", calls=9, kernel_us=us, each_us={"k0": us}, gap_us=0, host_us=us + 50)

    one = made(1, timings=(timing(12),), tuned={"k0": "XBLOCK: 64"})
    other = made(1, executor="torch.compile", timings=(timing(10),), tuned={"k0": "XBLOCK: 128"})
    assert told(one, other) == (
        "Forward, thunder+x makes as many kernels as torch.compile: 1. Its kernels take 12.0 µs and a call 62.0 µs of "
        "the host, against 10.0 µs and 60.0 µs of torch.compile. The autotuner chose XBLOCK: 64 for k0 (12.0 µs), and "
        "XBLOCK: 128 for its twin (10.0 µs)."
    )
    assert "autotuner" not in told(one, made(1, timings=(timing(10),), tuned={"k0": "XBLOCK: 64"}))
    assert "take" not in told(one, made(1))


def test_a_kernel_that_another_does_the_work_of_has_no_twin() -> None:
    def tuned(executor: str, *chosen: str) -> Run:
        kernels = [kernel(name, ("add", 0)) for name in ("k0", "k1")]
        timing = Timing(l2="warm", calls=9, kernel_us=2, each_us={"k0": 1, "k1": 1}, gap_us=0, host_us=9)
        by_kernel = dict(zip(("k0", "k1"), chosen, strict=True))
        return run(executor, forward(region(*kernels), timings=(timing,), tuned=by_kernel))

    assert "autotuner" not in told(tuned("thunder+x", "XBLOCK: 1", "XBLOCK: 2"), tuned("y", "XBLOCK: 1", "XBLOCK: 2"))


def test_results_that_are_nan_in_the_reference_too_are_not_called_wrong() -> None:
    nan = float("nan")
    reference = made(1, executor="torch.compile", errors=(nan, 0.001))
    assert "wrong" not in told(made(1, errors=(nan, 0.001)), reference)
    assert "Its result 1 is wrong" in told(made(1, errors=(nan, nan)), reference)


def test_reasons_of_inductor_are_counted() -> None:
    whys = [("no shared data", 1), ("too much", 2), ("no shared data", 3)]
    facts = {"first": "a", "second": "b", "first_operations": (), "second_operations": ()}
    one = region(kernel("k", ("add", 0)), kernel("l", ("mul", 0)), name="r0")
    one = Region.model_validate(
        one.model_dump() | {"why_not": [facts | {"reason": reason, "times": times} for reason, times in whys]}
    )
    text = told(run("thunder+x", forward(one)), made(1, executor="torch.compile"))
    assert text.endswith("Inductor's reasons not to fuse in r0: no shared data (4 times) and too much (2 times).")
    once = one.model_copy(update={"why_not": one.why_not[:1]})
    assert told(run("x", forward(once)), made(1)).endswith("no shared data (once).")
