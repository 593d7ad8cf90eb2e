"""A group of a real dump as a program, and what cannot be one."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.dump import parse, read
from segscope.explain.known import Known
from segscope.explain.program import Call, Dtype, Layout, Program, RebuildError, Scalar, Value
from segscope.explain.rebuild import rebuild
from segscope.model import Capture, Group, SegmentedFusion
from tests.checks.handmade import fusion as handmade
from tests.checks.handmade import tensor
from tests.conftest import DUMPS, FIXTURES

JULY = read(FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt").fusion
TODAY = read(FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt").fusion

T0 = Value(value="T0")
PADS = (
    "T2(8, 8) = pad( T0(8, 4), {0, 0, 0, 4} )",
    "T3(8, 8) = pad( T1(8, 4), {0, 0, 4, 0} )",
    "T4(8, 8) = cat( T2(8, 8), T3(8, 8), 1 )",
)


def program_of(fusion: SegmentedFusion, group: Group) -> Program:
    made = {name for expr in fusion.exprs_of(group) for name in expr.outputs}
    return rebuild(fusion, group.expr_ids, [name for name in group.outputs if name in made])


def test_what_a_damaged_dump_says_cannot_be_rebuilt() -> None:
    group = TODAY.kernel_groups[0]
    found = next(one for one in TODAY.transforms if one.tensor == group.outputs[0])
    short = found.model_copy(update={"contiguity": found.contiguity[:-1]})
    others = tuple(one for one in TODAY.transforms if one.tensor != found.tensor)
    with pytest.raises(RebuildError, match="its allocation domain is no order of its dimensions"):
        program_of(TODAY.model_copy(update={"transforms": (*others, short)}), group)
    circle = handmade(["T0"], ["T2"], ("pointwise", "T1 = +(T0, T2); T2 = exp(T1)"))
    with pytest.raises(RebuildError, match="expressions wait for each other"):
        rebuild(circle, [0, 1], ["T2"])
    scalars = handmade(["T0"], ["T1"], ("pointwise", "i1 = +(i2); i2 = +(i1); T1 = pow(T0, i1)"))
    with pytest.raises(RebuildError, match="T1: i1 is defined by itself"):
        Known(scalars).number("i1", "T1")


def test_a_long_chain_without_dtypes_has_that_of_its_beginning() -> None:
    chain = "; ".join(f"T{n + 1} = exp(T{n})" for n in range(3000))
    tensors = tuple(tensor(f"T{n + 1}").model_copy(update={"dtype": None}) for n in range(3000))
    long = handmade(["T0"], ["T3000"], ("pointwise", chain), tensors=tensors)
    assert Known(long).dtype("T3000") == "float"


def only_call(fusion: SegmentedFusion, output: str) -> Call:
    """The call that makes one tensor of a fusion."""
    expr = next(expr for expr in fusion.exprs if output in expr.outputs)
    (call,) = rebuild(fusion, [expr.id], [output]).calls
    return call


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
def test_every_group_of_rope_can_be_rebuilt_and_reads_what_the_dump_says(path: Path) -> None:
    for found in read(path).fusions:
        for group in found.groups:
            try:
                program = program_of(found, group)
            except RebuildError:
                assert "gpt" in path.name
                continue
            assert {given.name for given in program.inputs} == {n for n in group.inputs if n.startswith("T")}
            there = {given.name for given in program.inputs}
            for call in program.calls:
                for argument in call.arguments:
                    values = argument if isinstance(argument, tuple) else (argument,)
                    assert there.issuperset(value.value for value in values if isinstance(value, Value))
                there.add(call.output)
            assert there.issuperset(program.outputs)


@given(st.data())
def test_the_order_of_the_expressions_does_not_matter(data: st.DataObject) -> None:
    found = data.draw(st.sampled_from([JULY, TODAY]))
    group = data.draw(st.sampled_from(found.groups))
    shuffled = data.draw(st.permutations(group.expr_ids))
    assert program_of(found, group.model_copy(update={"expr_ids": tuple(shuffled)})) == program_of(found, group)


def test_a_group_of_july_2024() -> None:
    """Nothing of it is printed plainly: extents are expressions, and the tensors inside have no dtype."""
    program = program_of(JULY, JULY.groups[7])
    (given,) = program.inputs
    assert (given.name, given.shape, given.dtype) == ("T8", (2, 40, 4096, 128), "bfloat")
    assert given.strides == (20971520, 524288, 128, 1)
    assert program.calls == (
        Call(
            output="T12",
            function="slice",
            arguments=(Value(value="T8"), (0, 0, 0, 64), (2, 40, 4096, 128), (1, 1, 1, 1)),
        ),
        Call(output="T13", function="cast", arguments=(Value(value="T12"), Dtype(dtype="float"))),
        Call(output="T14", function="neg", arguments=(Value(value="T13"),)),
        Call(output="T15", function="cast", arguments=(Value(value="T14"), Dtype(dtype="bfloat"))),
    )
    assert (program.outputs, program.layouts) == (("T15",), {})


@pytest.mark.parametrize(
    ("found", "output", "function", "arguments"),
    [
        (JULY, "T3", "reshape", (Value(value="T0"), (2, 4096, 40, 3, 128))),
        (JULY, "T4", "permute", (Value(value="T3"), (0, 2, 3, 1, 4))),
        (TODAY, "T4", "permute", (Value(value="T3"), (0, 2, 3, 1, 4))),
        (JULY, "T8", "squeeze", (Value(value="T5"), (2,))),
        (TODAY, "T8", "squeeze", (Value(value="T5"), (2,))),
        (JULY, "T19", "broadcast", (Value(value="T1"), (True, True, False, False))),
        (JULY, "T20", "expand", (Value(value="T19"), (2, 40, 4096, 128))),
        (TODAY, "T20", "expand", (Value(value="T19"), (2, 40, 4096, 128))),
        (JULY, "T17", "pad", (Value(value="T11"), (64, 0, 0, 0, 0, 0, 0, 0))),
        (TODAY, "T23", "mul", (Value(value="T21"), Value(value="T22"))),
        (TODAY, "T50", "segment_set", (Value(value="T30"),)),
        (TODAY, "T46", "set", (Value(value="T50"),)),
    ],
)
def test_operators_of_rope(found: SegmentedFusion, output: str, function: str, arguments: tuple[object, ...]) -> None:
    call = only_call(found, output)
    assert (call.function, call.arguments) == (function, arguments)


def test_a_layout_that_the_dump_tells() -> None:
    """K's heads lie between the tokens, three times as wide as what is read of them: that is told as not contiguous."""
    group = next(group for group in TODAY.groups if group.id == 3)
    given = next(given for given in program_of(TODAY, group).inputs if given.name == "T9")
    assert given.layout == Layout(order=(0, 2, 1, 3), contiguity=(True, True, False, True))
    assert given.strides == (2 * 128 * 40 * 4096, 2 * 128, 2 * 128 * 40, 1)


def test_an_expanded_dimension_has_no_stride(fixture_capture: Callable[[str], Capture]) -> None:
    found = fixture_capture("null_0.2.8_llama2-13b_bookend0_forward").fusion
    given = next(given for given in program_of(found, found.groups[4]).inputs if given.name == "T22")
    assert (given.shape, given.strides) == ((2, 40, 4096, 128), (0, 0, 128, 1))
    assert given.layout.contiguity == (None, None, True, True)


def test_a_cat_brings_its_pads() -> None:
    group = next(group for group in TODAY.groups if group.id == 4)
    calls = {call.output: call for call in program_of(TODAY, group).calls}
    assert calls["T18"].arguments == ((Value(value="T15"), Value(value="T11")), 3)
    assert calls.keys().isdisjoint({"T16", "T17"})


def one_group(*statements: str) -> SegmentedFusion:
    """The fusion of a dump with one group of these statements, in which ``T1(8, 4)`` stands for the whole tensor."""
    texts = [re.sub(r"(T\d+)\(([^()]*)\)", _mention, statement) for statement in statements]
    numbered = "".join(f"{text}\n({number})\n" for number, text in enumerate(texts))
    return parse(
        "Segmented_Fusion Dump: -- fusion segments:\nSegmented_Fusion{ \ngroups: \n  "
        f"pointwise{{{', '.join(map(str, range(len(texts))))}}}\nedges: \n\ngroup details:\n"
        f"g{{(pointwise)\ngroup id: 0\ninputs:\noutputs:\n\n\n{numbered}}}\n\n}} //Segmented_Fusion\n"
    ).fusion


def _mention(match: re.Match[str]) -> str:
    """``T3(8, b1, r4, double)`` as nvFuser prints it; a float where no dtype stands last."""
    name, inside = match.groups()
    parts = inside.split(", ")
    dtype = parts.pop() if parts[-1].isidentifier() and not re.fullmatch(r"[bri]\d+", parts[-1]) else "float"
    dims = (
        f"{part[0] if part[0] in 'br' else 'i'}S{name[1:]}{n}{{{part.lstrip('br')}}}" for n, part in enumerate(parts)
    )
    return f"{name}_g_{dtype}[{', '.join(dims)}]"


@pytest.mark.parametrize(
    ("statement", "function", "arguments"),
    [
        ("T1(8, 4) = expf(T0(8, 4));", "exp", (T0,)),
        ("T1(8, 4, bool) = isnan(T0(8, 4));", "isnan", (T0,)),
        ("T1(8, 4) = T0(8, 4) + T0(8, 4);", "add", (T0, T0)),
        ("T1(8, 4) = double(1) - T0(8, 4);", "sub", (Scalar(scalar="1", dtype="double"), T0)),
        ("T1(8, 4) = pow(T0(8, 4) , double(3));", "pow", (T0, Scalar(scalar="3", dtype="double"))),
        ("T1(8, 4, bool) = T0(8, 4) > float(-inf);", "gt", (T0, Scalar(scalar="-inf", dtype="float"))),
        ("T1(8, 4) = fmodf(T0(8, 4) , i7);", "fmod", (T0, Scalar(scalar="64", dtype="int64"))),
        ("T1(8, 4, double) = __to_double(T0(8, 4));", "cast", (T0, Dtype(dtype="double"))),
        ("T1(8, r4) = reduction( T0(8, 4), op = add, initial value = float(0), allreduce = false )", "sum", (T0, (1,))),
        (
            "T1(r8, 4) = reduction( T0(8, 4), op = max, initial value = float(-inf), allreduce = false )",
            "max",
            (T0, (0,)),
        ),
        (
            "T1(8, 4) = full({8, i8}, float(0));",
            "full",
            ((8, 4), Scalar(scalar="0", dtype="float"), Dtype(dtype="float")),
        ),
        ("T1(b1, 8, 4) = broadcast( T0(8, 4) )", "broadcast", (T0, (True, False, False))),
        ("T1(8, 4) = squeeze( T0(8, b1, 4) )", "squeeze", (T0, (1,))),
        ("T1(8, 4) = squeeze( T0(8, b1 ex 3, 4), flags = {false, true, false} )", "squeeze", (T0, (1,), True)),
        ("T1(8, 9) = pad( T0(8, 4), {0, 0, 1, i8} )", "pad", (T0, (1, 4, 0, 0))),
        ("T1(8, 2) = slice( T0(8, 4), { {0, 8, 1} {( i8 - 2 ), i8, 1} } )", "slice", (T0, (0, 2), (8, 4), (1, 1))),
    ],
)
def test_other_operators(statement: str, function: str, arguments: tuple[object, ...]) -> None:
    call = only_call(one_group("i7 = fmax(0, 64);", "i8 = i7 / 16;", statement), "T1")
    assert (call.function, call.arguments) == (function, arguments)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("T1(8, 4) = erfinvg(T0(8, 4));", "T1: operator erfinvg (unknown) cannot be rebuilt"),
        ("T1(8, 4) [= relu(T0(8, 4));", "1: operator"),
        ("T1(8, 4) = where(T0(8, 4) , T0(8, 4) , T0(8, 4));", "T1: operator where (ternary) cannot be rebuilt"),
        ("T1(8, 4) = nextafter(T0(8, 4) , T0(8, 4));", "T1: operator nextafter (binary) cannot be rebuilt"),
        (
            "T1(8, r4) = reduction( T0(8, 4), op = fmax, initial value = float(0), allreduce = false )",
            "T1: operator fmax",
        ),
        ("T1(8, 4, __bfloat) = relu(T0(8, 4, __bfloat));", "T1: operator relu on bfloat cannot be rebuilt"),
        ("T1(8, i3) = relu(T0(8, i3));", "T0: the value of i3 is not in the dump"),
        ("T1(8, 4) = T0(8, 4) * d3;", "T1: the value of d3 is not in the dump"),
        ("T1(8, 4) = T0(8, 4) * i9;", "T1: reciprocal(double(3)) is no constant integer"),
        ("T1(b1, b1, 4) = broadcast( T0(b1, 4) )", "T1: which of its broadcasts are not in T0 is not printed"),
        (
            "T1(8, 4) = Set.Permute( T0(8, 4, 2), cache_op=Streaming )",
            "the dump does not print which permutation it is",
        ),
        ("T1(8, 8) = cat( T0(8, 8), T2(8, 8), 1 )", "T1: a cat can be rebuilt only with its pads, and T0 is not one"),
    ],
)
def test_what_cannot_be_rebuilt_says_why(statement: str, says: str) -> None:
    found = one_group("i9 = reciprocal(double(3));", statement)
    with pytest.raises(RebuildError, match=re.escape(says)) as caught:
        rebuild(found, [0, 1], ["T1"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("statements", "outputs", "says"),
    [
        (PADS, ["T4", "T2"], "T4: a cat can be rebuilt only with its pads, and T2 is not one of its own"),
        ((*PADS, "T5(8, 8) = expf(T3(8, 8));"), ["T4", "T5"], "and T3 is not one of its own"),
        (("T2(8, 8) = pad( T0(8, 4), {0, 0, 1, 3} )", *PADS[1:]), ["T4"], "T2: not the padding that a cat gives"),
        (PADS, ["T9"], "T9: not defined by these expressions"),
        (PADS, [], "a group without outputs"),
    ],
)
def test_groups_that_cannot_be_rebuilt(statements: tuple[str, ...], outputs: list[str], says: str) -> None:
    with pytest.raises(RebuildError, match=re.escape(says)):
        rebuild(one_group(*statements), range(len(statements)), outputs)


def test_an_expression_that_is_not_there() -> None:
    with pytest.raises(RebuildError, match="fusion 0 has no expression 4711"):
        rebuild(JULY, [4, 4711], ["T3"])
