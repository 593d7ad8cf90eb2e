"""Statements of every form that the real dumps hold, and some that they do not."""

import pytest

from segscope.dump import statements
from segscope.dump.values import Tensors
from segscope.model import Expr

A, B, C = "T1_l_float[iS1{8}]", "T2_g_float[iS2{8}]", "T3_g_float[iS3{8}]"


def parse(text: str) -> Expr:
    return Expr.model_validate(statements.parse(text, 7, Tensors()))


@pytest.mark.parametrize(
    ("text", "kind", "op", "outputs", "inputs", "attributes"),
    [
        (f"{A}\n   = relu({B});", "unary", "relu", ["T1"], ["T2"], {}),
        (f"{A}\n   = -{B};", "unary", "-", ["T1"], ["T2"], {}),
        (f"{A}\n   = __bfloat2float({B});", "cast", "__bfloat2float", ["T1"], ["T2"], {"from": "bfloat", "to": "float"}),
        (f"{A}\n   = __float2e4m3({B});", "cast", "__float2e4m3", ["T1"], ["T2"], {"from": "float", "to": "e4m3"}),
        (f"{A}\n   = __e5m22half({B});", "cast", "__e5m22half", ["T1"], ["T2"], {"from": "e5m2", "to": "half"}),
        (f"{A}\n   = __to_float({B});", "cast", "__to_float", ["T1"], ["T2"], {}),
        (f"{A}\n   = (float)({B});", "cast", "(float)", ["T1"], ["T2"], {}),
        ("d4 = (double)(i3);", "cast", "(double)", ["d4"], ["i3"], {}),
        (f"{A}\n   = {B}\n   * {C};", "binary", "*", ["T1"], ["T2", "T3"], {}),
        (f"{A}\n   = double(1)\n   - {C};", "binary", "-", ["T1"], ["T3"], {}),
        (f"{A}\n   = pow({B}\n  , double(3));", "binary", "pow", ["T1"], ["T2"], {}),
        ("b7 = i0 == 1;", "binary", "==", ["b7"], ["i0"], {}),
        ("b7 = b1 && b2;", "binary", "&&", ["b7"], ["b1", "b2"], {}),
        ("i602 = -i25;", "unary", "-", ["i602"], ["i25"], {}),
        ("i6 = ceilDiv(i0, 4);", "binary", "ceilDiv", ["i6"], ["i0"], {}),
        (f"{A}\n   = where({B}\n  , {C}\n  , {C});", "ternary", "where", ["T1"], ["T2", "T3", "T3"], {}),
        (f"{A}\n   = Set( {B}, cache_op=Streaming )", "set", "Set", ["T1"], ["T2"], {"cache_op": "Streaming"}),
        (f"{A}\n   = Set.Permute( {B}, cache_op=Streaming )", "permute", "Set.Permute", ["T1"], ["T2"], {"cache_op": "Streaming"}),
        (f"{A}\n   = SegmenterSet( {B} )", "segmenter_set", "SegmenterSet", ["T1"], ["T2"], {}),
        (f"{A}\n   = broadcast( {B}, flags = {{false, true}} )", "broadcast", "broadcast", ["T1"], ["T2"], {"flags": (False, True)}),
        (f"{A}\n   = broadcast( {B} )", "broadcast", "broadcast", ["T1"], ["T2"], {}),
        (f"{A} = expand( {B}, {{2, i0}} )", "expand", "expand", ["T1"], ["T2", "i0"], {"sizes": (2, "i0")}),
        (f"{A} = view( {B} )", "reshape", "view", ["T1"], ["T2"], {}),
        (
            f"{A}\n   = slice( {B}, {{ {{0, i221, 1}} {{64, 128, 2}} }} )",
            "slice", "slice", ["T1"], ["T2", "i221"], {"ranges": ((0, "i221", 1), (64, 128, 2))},
        ),
        (f"{A}\n   = pad( {B}, {{0, 0, -1, i3}} )", "pad", "pad", ["T1"], ["T2", "i3"], {"widths": (0, 0, -1, "i3")}),
        (f"{A}\n   = cat( {B}, {C}, 3 )", "cat", "cat", ["T1"], ["T2", "T3"], {"dim": 3}),
        (
            f"{A}\n   = reduction( {B}, op = add, initial value = float(0), allreduce = false )",
            "reduction", "reduction", ["T1"], ["T2"], {"op": "add", "initial value": "float(0)", "allreduce": False},
        ),
        (
            f"{A}(Avg),\nT5_l_float[iS1{{8}}](Var),\nT6_l_float[iS1{{8}}](Count)\n = Welford ( {B}(Avg), \n  allreduce = false )",
            "welford", "Welford", ["T1", "T5", "T6"], ["T2"], {"allreduce": False},
        ),
        (f"{A}\n   = full({{i0, 4}}, float(1));", "full", "full", ["T1"], ["i0"], {}),
        (f"{A}\n   = indexSelect( {B}, dim = 0, {C} )", "index_select", "indexSelect", ["T1"], ["T2", "T3"], {"dim": 0}),
        (f"{A}\n   = matmul({B},\n            {C})", "matmul", "matmul", ["T1"], ["T2", "T3"], {}),
        (f"{A}\n   = {B};", "set", "", ["T1"], ["T2"], {}),
        ("a4 = s3.logical_size", "get_attribute", ".", ["a4"], ["s3"], {}),
        ("i5 = a4[0]", "get_item", "[", ["i5"], ["a4"], {}),
        ("a6 = {i0, i1}", "construct", "{", ["a6"], ["i0", "i1"], {}),
    ],
)  # fmt: skip
def test_known(
    text: str, kind: str, op: str, outputs: list[str], inputs: list[str], attributes: dict[str, object]
) -> None:
    expr = parse(text)
    assert (expr.kind, expr.op) == (kind, op)
    assert expr.outputs == tuple(outputs)
    assert expr.inputs == tuple(inputs)
    assert expr.attributes == attributes
    assert expr.text == text
    assert expr.id == 7


@pytest.mark.parametrize(
    ("text", "op"),
    [
        (f"{A}\n   = frobnicate( {B}, widgets = 3 )", "frobnicate"),
        (f"{A}\n   = {B} <=> {C};", "T2 <=> T3"),
        (f"GroupedThing( {A}, {B} )", "GroupedThing"),
    ],
)
def test_unknown_stays_as_text(text: str, op: str) -> None:
    expr = parse(text)
    assert (expr.kind, expr.op, expr.text) == ("unknown", op, text)
    assert set(expr.outputs + expr.inputs) >= {"T1", "T2"}
    assert not expr.is_metadata
