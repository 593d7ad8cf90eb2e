"""Where two graphs differ."""

from __future__ import annotations

import random as randoms
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from segscope.compare.executors.graphs import differences, first_difference
from segscope.compare.executors.model import Difference
from segscope.compare.executors.region import Node

from .handmade import node

OPERATIONS = ("aten.mul.Tensor", "aten.neg.default", "aten.add.Tensor")

ROTATED = (
    node("x", "placeholder"),
    node("cos", "placeholder", shape=(4, 1)),
    node("neg", "aten.neg.default", "x"),
    node("mul", "aten.mul.Tensor", "neg", "cos"),
    node("output", "output", "mul"),
)
UP_CAST = (
    *ROTATED[:2],
    node("up", "prims.convert_element_type.default", "x", arguments="x, torch.float32"),
    node("neg", "aten.neg.default", "up"),
    node("mul", "aten.mul.Tensor", "neg", "cos"),
    node("output", "output", "mul", "cos"),
)


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    """Draw a graph without an output."""
    nodes = [node(f"x{n}", "placeholder", shape=(4, n + 1)) for n in range(draw(st.integers(1, 3)))]
    for number in range(draw(st.integers(0, 8))):
        inputs = draw(st.lists(st.sampled_from([one.name for one in nodes]), min_size=1, max_size=2))
        nodes.append(node(f"n{number}", draw(st.sampled_from(OPERATIONS)), *inputs))
    return nodes


def renamed(nodes: Sequence[Node], rng: randoms.Random) -> list[Node]:
    """The same graph under other names, in another order in which each node is behind what it reads."""
    left, found, names = list(nodes), [], {}
    while left:
        ready = [one for one in left if names.keys() >= set(one.inputs)]
        one = rng.choice(ready)
        left.remove(one)
        names[one.name] = f"other_{len(names)}"
        inputs = tuple(names[name] for name in one.inputs)
        found.append(one.model_copy(update={"name": names[one.name], "inputs": inputs, "arguments": ", ".join(inputs)}))
    return found


@given(graphs(), st.randoms(use_true_random=False))
def test_names_and_order_make_no_difference(nodes: list[Node], rng: randoms.Random) -> None:
    other = renamed(nodes, rng)
    assert differences(nodes, other) == ()
    assert first_difference(nodes, other) is None


@given(graphs(), st.randoms(use_true_random=False), st.data())
def test_an_operation_more_is_found(nodes: list[Node], rng: randoms.Random, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from([one.name for one in nodes]))
    more = [*nodes, node("more", "aten.exp.default", source)]
    assert differences(more, renamed(nodes, rng)) == (Difference(kind="exp", here=1, there=0, nodes=("more",)),)
    assert differences(nodes, more) == (Difference(kind="exp", here=0, there=1, nodes=()),)
    found = first_difference(more, renamed(nodes, rng))
    assert found is not None
    assert found.startswith(f"more = aten.exp.default({source}); with the same operands the other graph has ")
    assert first_difference(renamed(nodes, rng), more) is None


@given(graphs())
def test_what_is_done_twice_is_one_more(nodes: list[Node]) -> None:
    last = nodes[-1]
    if last.operation != "placeholder":
        again = last.model_copy(update={"name": "again"})
        found = first_difference([*nodes, again], nodes)
        assert found is not None
        assert found.startswith("again = ")


def test_the_first_difference_is_shown_with_what_is_there_instead() -> None:
    assert first_difference(UP_CAST, ROTATED) == (
        "up = prims.convert_element_type.default(x, torch.float32); "
        "with the same operands the other graph has neg = aten.neg.default(x)"
    )
    assert first_difference(ROTATED, UP_CAST) == (
        "neg = aten.neg.default(x); "
        "with the same operands the other graph has up = prims.convert_element_type.default(x, torch.float32)"
    )


def test_kinds_and_outputs_are_counted() -> None:
    assert [(one.kind, one.here, one.there, one.nodes) for one in differences(UP_CAST, ROTATED)] == [
        ("cast", 1, 0, ("up",)),
        ("output", 2, 1, ("mul", "cos")),
    ]


def test_other_arguments_are_another_operation() -> None:
    first, second = (
        (*ROTATED[:1], node("half", "aten.slice.Tensor", "x", arguments=f"x, 1, {start}, 4")) for start in (0, 2)
    )
    assert differences(first, second) == ()
    assert first_difference(first, second) == (
        "half = aten.slice.Tensor(x, 1, 0, 4); "
        "with the same operands the other graph has half = aten.slice.Tensor(x, 1, 2, 4)"
    )


def test_inputs_are_told_by_dtype_and_shape() -> None:
    wide = node("x", "placeholder", shape=(4, 8))
    assert first_difference(ROTATED, (wide, *ROTATED[1:])) == (
        "neg = aten.neg.default(x); with the same operands the other graph has nothing"
    )
