"""Headroom of small random fusions under every set of rules, against trying every segmentation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segscope.explain import headroom
from segscope.graph.partition import Problem
from segscope.model import SegmentedFusion
from tests.checks.handmade import fusion as handmade
from tests.checks.handmade import tensor
from tests.graph.test_partition import brute_force

from .verifier import flaws

METADATA = ("squeeze", "slice", "segmenter_set")
ONE_OPERAND = ("exp", "-", "pad", "slice", "squeeze", "__bfloat2float", "__float2bfloat", "segmenter_set")


@st.composite
def fusions(draw: st.DrawFn) -> SegmentedFusion:
    """Up to ten expressions in one kernel, so that a kernel of metadata operations alone does not occur."""
    size = draw(st.integers(1, 10))
    statements = ["T1 = exp(T0)"]
    for n in range(2, size + 1):
        operands = [f"T{draw(st.integers(max(0, n - 4), n - 1))}" for _ in range(2)]
        op = draw(st.sampled_from([*ONE_OPERAND, "+", "+", "gather"]))
        arguments = operands if op in ("+", "gather") else operands[:1]
        statements.append(f"T{n} = {op}({', '.join(arguments)})")
    names = [f"T{n}" for n in range(1, size + 1)]
    unread = [name for name in names if not any(f"{name}," in f"{s.replace(')', ',')}" for s in statements)]
    outputs = {*unread, *draw(st.lists(st.sampled_from(names), max_size=2))}
    shapes = tuple(tensor(f"T{n}", (8, 64 + n)) for n in range(size + 1))
    return handmade(["T0"], sorted(outputs), ("pointwise", "; ".join(statements)), tensors=shapes)


def problem_of(fusion: SegmentedFusion, rules: str) -> Problem:
    """What needs a kernel and what must be apart, found from the values downwards."""
    readers = {name: [expr for expr in fusion.exprs if name in expr.inputs] for name in ["T0", *fusion.tensors]}
    readers |= {expr.outputs[0]: [e for e in fusion.exprs if expr.outputs[0] in e.inputs] for expr in fusion.exprs}

    def wants_memory(kind: str) -> bool:
        return kind in ("gather", "segmenter_set") or (rules == "boundary" and kind in ("slice", "pad"))

    def in_memory(name: str) -> bool:
        """Whether a value must be in memory: as an output, or for what reads it, over views too."""
        return name in fusion.outputs or any(
            (wants_memory(expr.kind) and expr.inputs[0] == name)
            or (expr.kind in METADATA and in_memory(expr.outputs[0]))
            for expr in readers[name]
        )

    work = [
        expr
        for expr in fusion.exprs
        if expr.kind not in METADATA and not (expr.op == "__bfloat2float" and not in_memory(expr.outputs[0]))
    ]
    number = {expr.id: at for at, expr in enumerate(work)}
    edges: dict[tuple[int, int], bool] = {}

    def follow(source: int, name: str, apart: bool) -> None:
        for expr in readers[name]:
            here = apart or (wants_memory(expr.kind) and expr.inputs[0] == name)
            if expr.id in number:
                pair = (source, number[expr.id])
                edges[pair] = edges.get(pair, False) or here
            else:
                follow(source, expr.outputs[0], here)

    for expr in work:
        follow(number[expr.id], expr.outputs[0], False)
    return Problem(len(work), edges)


@pytest.mark.parametrize("connected", [True, False], ids=["connected", "free"])
@pytest.mark.parametrize("rules", ["boundary", "resize"])
@given(fusion=fusions())
@settings(max_examples=200)
def test_no_segmentation_has_fewer(rules: str, connected: bool, fusion: SegmentedFusion) -> None:
    bound = headroom(fusion, [rules]).bound(rules, connected=connected)  # type: ignore[arg-type,list-item]
    assert bound.exact
    assert bound.fewest == brute_force(problem_of(fusion, rules), connected=connected)
    assert flaws(fusion, bound.proof, rules, connected=connected) == []
