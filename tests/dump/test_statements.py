"""Statements of every form, in every spelling since March 2023."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.dump import statements
from segscope.dump.operators import NAMED
from segscope.dump.scan import UnbalancedError
from segscope.dump.values import Tensors
from segscope.errors import SegscopeError
from segscope.model import Expr

A, B, C = "T1_l_float[iS1{8}]", "T2_g_float[iS2{8}]", "T3_g_float[iS3{8}]"
D, E, F, G = (f"T{n}_g_float[iS{n}{{8}}]" for n in (4, 5, 6, 9))
IDX, Z = "T7_g_int64_t[iS7{8}]", "T8_g_std::complex<float>[iS8{8}]"
OLD_A, OLD_B, OLD_C = "T1_l[ iS1{8} ]", "T2_g[ iS2{8} ]", "T3_g[ iS3{8} ]"

Row = tuple[str, str, str, list[str], list[str], dict[str, object]]


def parse(text: str) -> Expr:
    return Expr.model_validate(statements.parse(text, 7, Tensors()))


SCALARS: list[Row] = [
    ("i602 = -i25;", "unary", "-", ["i602"], ["i25"], {}),
    ("i6 = ceilDiv(i0, 4);", "binary", "ceilDiv", ["i6"], ["i0"], {}),
    ("i5 = i0 * 2;", "binary", "*", ["i5"], ["i0"], {}),
    ("b7 = i0 == 1;", "binary", "==", ["b7"], ["i0"], {}),
    ("b7 = i0 < i1;", "binary", "<", ["b7"], ["i0", "i1"], {}),
    ("b7 = b1 && b2;", "binary", "&&", ["b7"], ["b1", "b2"], {}),
    ("d9 = where(b1, d2, d3);", "ternary", "where", ["d9"], ["b1", "d2", "d3"], {}),
    ("i5\n   = Set( i4, cache_op=Streaming )", "set", "Set", ["i5"], ["i4"], {"cache_op": "Streaming"}),
    ("i5 = i4;", "set", "", ["i5"], ["i4"], {}),
    ("d5 = double(-inf);", "set", "", ["d5"], [], {}),
    ("b5 = true;", "set", "", ["b5"], [], {}),
    ("i5 = -3;", "set", "", ["i5"], [], {}),
    (f"s3 = getMetaData({B})", "get_metadata", "getMetaData", ["s3"], ["T2"], {}),
    ("a4 = s3.logical_size", "get_attribute", ".", ["a4"], ["s3"], {"attribute": "logical_size"}),
    ("i5 = a4[0]", "get_item", "[", ["i5"], ["a4"], {"index": 0}),
    ("i5 = a4[i3]", "get_item", "[", ["i5"], ["a4", "i3"], {"index": "i3"}),
    ("a6 = {i0, i1}", "construct", "{", ["a6"], ["i0", "i1"], {}),
    ("a6 = {}", "construct", "{", ["a6"], [], {}),
    ("s7 = { x = i0, y = 1 }", "construct", "{", ["s7"], ["i0"], {"x": "i0", "y": 1}),
    ("a8 = ReverseArray(a6)", "reverse_array", "ReverseArray", ["a8"], ["a6"], {}),
    (f"{A} = TensorConstruct(d3)", "tensor_construct", "TensorConstruct", ["T1"], ["d3"], {}),
    ("f4x2_1 = bit_cast(ptr3);", "unary", "bit_cast", ["f4x2_1"], ["ptr3"], {}),
]  # fmt: skip

ELEMENTWISE: list[Row] = [
    (f"{A}\n   = relu({B});", "unary", "relu", ["T1"], ["T2"], {}),
    (f"{A}\n   = -{B};", "unary", "-", ["T1"], ["T2"], {}),
    (f"{A}\n   = __bfloat2float({B});", "cast", "__bfloat2float", ["T1"], ["T2"], {"from": "bfloat", "to": "float"}),
    (f"{A}\n   = __float2e4m3({B});", "cast", "__float2e4m3", ["T1"], ["T2"], {"from": "float", "to": "e4m3"}),
    (f"{A}\n   = __e5m22half({B});", "cast", "__e5m22half", ["T1"], ["T2"], {"from": "e5m2", "to": "half"}),
    (f"{A}\n   = __half2int({B});", "cast", "__half2int", ["T1"], ["T2"], {"from": "half", "to": "int64"}),
    (f"{A}\n   = __int2half({IDX});", "cast", "__int2half", ["T1"], ["T7"], {"from": "int64", "to": "half"}),
    (f"{A}\n   = __int2half(T7_g_int[iS7{{8}}]);", "cast", "__int2half", ["T1"], ["T7"], {"from": "int32", "to": "half"}),
    (f"{A}\n   = __to_float({IDX});", "cast", "__to_float", ["T1"], ["T7"], {"from": "int64", "to": "float"}),
    (f"{A}\n   = (float)({IDX});", "cast", "(float)", ["T1"], ["T7"], {"from": "int64", "to": "float"}),
    (f"{OLD_A}\n   = (float)({OLD_B});", "cast", "(float)", ["T1"], ["T2"], {"to": "float"}),
    (f"{A}\n   = __real_then_2bfloat({Z});", "cast", "__real_then_2bfloat", ["T1"], ["T8"], {"from": "complex_float", "to": "bfloat", "real": True}),
    (f"{A}\n   = __real_then_to_double({Z});", "cast", "__real_then_to_double", ["T1"], ["T8"], {"from": "complex_float", "to": "double", "real": True}),
    (f"{A}\n   = (double)std::real({Z});", "cast", "(double)std::real", ["T1"], ["T8"], {"from": "complex_float", "to": "double", "real": True}),
    (f"{A}\n   = (std::complex<float>)__bfloat2float({B});", "cast", "(std::complex<float>)__bfloat2float", ["T1"], ["T2"], {"from": "bfloat", "to": "complex_float"}),
    ("d4 = (double)(i3);", "cast", "(double)", ["d4"], ["i3"], {"to": "double"}),
    ("i4 = (nvfuser_index_t)(d3);", "cast", "(nvfuser_index_t)", ["i4"], ["d3"], {"to": "index"}),
    (f"{A}\n   = {B}\n   * {C};", "binary", "*", ["T1"], ["T2", "T3"], {}),
    (f"{A}\n   = {B}\n   < {C};", "binary", "<", ["T1"], ["T2", "T3"], {}),
    (f"{A}\n   = double(1e-05)\n   - {C};", "binary", "-", ["T1"], ["T3"], {}),
    (f"{A}\n   = {C}\n   + std::complex<double>((1,-inf));", "binary", "+", ["T1"], ["T3"], {}),
    (f"{A}\n   = pow({B}\n  , double(3));", "binary", "pow", ["T1"], ["T2"], {}),
    (f"{A}\n   = where({B}\n  , {C}\n  , float(-inf));", "ternary", "where", ["T1"], ["T2", "T3"], {}),
]  # fmt: skip

VIEWS: list[Row] = [
    (f"{A}\n   = Set( {B}, cache_op=Streaming )", "set", "Set", ["T1"], ["T2"], {"cache_op": "Streaming"}),
    (f"{OLD_A}\n   = Set( {OLD_B} )", "set", "Set", ["T1"], ["T2"], {}),
    (f"{OLD_A}\n   = {OLD_B};", "set", "", ["T1"], ["T2"], {}),
    (f"{A}\n   = Set.Permute( {B}, cache_op=Global )", "permute", "Set.Permute", ["T1"], ["T2"], {"cache_op": "Global"}),
    (f"{OLD_A} = transpose( {OLD_B} )", "permute", "transpose", ["T1"], ["T2"], {}),
    (f"{A}\n   = SegmenterSet( {B} )", "segmenter_set", "SegmenterSet", ["T1"], ["T2"], {}),
    (f"{A}\n   = SegmenterSet.Permute( {B} )", "segmenter_set", "SegmenterSet.Permute", ["T1"], ["T2"], {}),
    (f"{A}\n   = CpAsync( {B}, cache_op=AllLevels )", "load_store", "CpAsync", ["T1"], ["T2"], {"cache_op": "AllLevels"}),
    (f"{A}\n   = LdMatrix.Permute( {B} )", "load_store", "LdMatrix.Permute", ["T1"], ["T2"], {}),
    (f"{A}\n   = broadcast( {B}, flags = {{false, true}} )", "broadcast", "broadcast", ["T1"], ["T2"], {"flags": (False, True)}),
    (f"{A}\n   = broadcast( {B} )", "broadcast", "broadcast", ["T1"], ["T2"], {}),
    (f"{A}\n   = squeeze( {B}, flags = {{true, false}} )", "squeeze", "squeeze", ["T1"], ["T2"], {"flags": (True, False)}),
    (f"{A}\n   = squeeze( {B}, flags = {{}} )", "squeeze", "squeeze", ["T1"], ["T2"], {"flags": ()}),
    (f"{A}\n   = squeeze( {B} )", "squeeze", "squeeze", ["T1"], ["T2"], {}),
    (f"{A} = expand( {B} )", "expand", "expand", ["T1"], ["T2"], {}),
    (f"{A} = expand( {B}, {{2, i0}} )", "expand", "expand", ["T1"], ["T2", "i0"], {"sizes": (2, "i0")}),
    (f"{A} = repeat( {B} )", "repeat", "repeat", ["T1"], ["T2"], {}),
    (f"{A} = view( {B} )", "reshape", "view", ["T1"], ["T2"], {}),
    (f"{A} = reshape( {B} )", "reshape", "reshape", ["T1"], ["T2"], {}),
    (f"{A} = view_as_scalar( {B}, vS3{{i2}} )", "view_as_scalar", "view_as_scalar", ["T1"], ["T2"], {"vector_id": "vS3{i2}"}),
    (f"{A}\n   = slice( {B}, {{ {{0, i221, 1}} {{64, 128, 2}} }} )", "slice", "slice", ["T1"], ["T2", "i221"], {"ranges": ((0, "i221", 1), (64, 128, 2))}),
    (f"{A}\n   = slice( {B}, {{ }} )", "slice", "slice", ["T1"], ["T2"], {"ranges": ()}),
    (f"{A}\n   = pad( {B}, {{0, 0, -1, i3}} )", "pad", "pad", ["T1"], ["T2", "i3"], {"widths": (0, 0, -1, "i3")}),
    (f"{A}\n   = cat( {B}, {C}, 3 )", "cat", "cat", ["T1"], ["T2", "T3"], {"dim": 3}),
    (f"{OLD_A} = shift( {OLD_B}, {{1 -1}}, {{0 0}} )", "shift", "shift", ["T1"], ["T2"], {"offsets": (1, -1), "pads": (0, 0)}),
    (f"{OLD_A} = gather( {OLD_B}, {{3, 1}}, {{{{1, 1}}, {{0, 0}}}} )", "window_gather", "gather", ["T1"], ["T2"], {"window": (3, 1), "pads": (1, 1, 0, 0)}),
]  # fmt: skip

REDUCTIONS: list[Row] = [
    (
        f"{A}\n   = reduction( {B}, op = add, initial value = float(0), allreduce = false )",
        "reduction", "reduction", ["T1"], ["T2"], {"op": "add", "initial value": "float(0)", "allreduce": False},
    ),
    (
        f"{A}\n   = reduction( {B}, op = fmax, initial value = double(-inf), allreduce = true )",
        "reduction", "reduction", ["T1"], ["T2"], {"op": "fmax", "initial value": "double(-inf)", "allreduce": True},
    ),
    (
        f"GroupedReductionOp(\n  {A} = reduction( {C}, op = add, initial value = float(0) )\n"
        f"  {B} = reduction( {D}, op = max, initial value = d1 )\n  allreduce = false )",
        "grouped_reduction", "GroupedReductionOp", ["T1", "T2"], ["T3", "T4", "d1"],
        {"op": ("add", "max"), "initial value": ("float(0)", "d1"), "allreduce": False},
    ),
    (
        f"{A}(Avg),\n{D}(Var),\n{E}(Count)\n = Welford ( {B}(Avg), \n  allreduce = false )",
        "welford", "Welford", ["T1", "T4", "T5"], ["T2"], {"avg": "T1", "var": "T4", "count": "T5", "allreduce": False},
    ),
    (
        f"{A}(Avg),\n{D}(Var),\n{E}(Count)\n = Welford ( {B}(Avg)\n  {C}(Var)\n  {IDX}(Count)\n  allreduce = true )",
        "welford", "Welford", ["T1", "T4", "T5"], ["T2", "T3", "T7"], {"avg": "T1", "var": "T4", "count": "T5", "allreduce": True},
    ),
    (
        f"{A}(Avg),\n{D}(Var),\n{E}(Count)\n = Welford ( {B}(Avg), \n  initial value = float(0)(Avg)\n  d1(Var)\n  i2(N)\n  allreduce = false )",
        "welford", "Welford", ["T1", "T4", "T5"], ["T2", "d1", "i2"],
        {"avg": "T1", "var": "T4", "count": "T5", "initial value": ("float(0)", "d1", "i2"), "allreduce": False},
    ),
    (
        f"GroupedWelford(\n  {A} (Avg),\n  {B} (Var),\n  {C} (Count)\n   = Welford (     {D} (Avg),\n    {E} (Var),\n    {IDX} (Count)\n"
        "    initial value =\n      float(0) (Avg),\n      d1 (Var),\n      0 (Count) )\n"
        f"  {F} (Avg),\n  {G} (Var),\n  {Z} (Count)\n   = Welford (     {D} (Avg),\n    {E} (Var),\n    {IDX} (Count)\n"
        "    initial value =\n      float(0) (Avg),\n      float(0) (Var),\n      0 (Count) )\n  allreduce = false )",
        "grouped_welford", "GroupedWelford", ["T1", "T2", "T3", "T6", "T9", "T8"], ["T4", "T5", "T7", "d1", "T4", "T5", "T7"],
        {
            "avg": ("T1", "T6"), "var": ("T2", "T9"), "count": ("T3", "T8"), "allreduce": False,
            "initial value": (("float(0)", "d1", "0"), ("float(0)", "float(0)", "0")),
        },
    ),
    (
        f"{A}\n   = scan({B},\n          dim=1,\n          op_type=add,\n          init=float(0))",
        "scan", "scan", ["T1"], ["T2"], {"dim": 1, "op_type": "add", "init": "float(0)"},
    ),
]  # fmt: skip

FACTORIES: list[Row] = [
    (f"{A}\n   = full({{i0, 4}}, float(1));", "full", "full", ["T1"], ["i0"], {"sizes": ("i0", 4), "value": "float(1)"}),
    ("T1_l_float[]\n   = full({}float(1));", "full", "full", ["T1"], [], {"sizes": (), "value": "float(1)"}),
    (f"{A}\n   = full({{( i0 * 2 )}}, std::complex<double>((1,0)));", "full", "full", ["T1"], ["i0"], {"sizes": ("( i0 * 2 )",), "value": "std::complex<double>((1,0))"}),
    (f"{A}\n   = iota(i0, 0, 1, int64_t);", "iota", "iota", ["T1"], ["i0"], {"length": "i0", "start": 0, "step": 1, "dtype": "int64_t"}),
    (f"{A}\n   = eye(i0, float);", "eye", "eye", ["T1"], ["i0"], {"size": "i0", "dtype": "float"}),
    (f"{A}\n   = rng_uniform({{i0, 4}}, float, i5);", "rng", "rng_uniform", ["T1"], ["i0", "i5"], {"sizes": ("i0", 4), "dtype": "float", "seed": "i5"}),
    (f"{A}\n   = rng_uniform({{i0}}, __bfloat);", "rng", "rng_uniform", ["T1"], ["i0"], {"sizes": ("i0",), "dtype": "__bfloat"}),
    (f"{A}\n   = rng_uniform({{i0}}, float, i5, i6);", "rng", "rng_uniform", ["T1"], ["i0", "i5", "i6"], {"sizes": ("i0",), "dtype": "float", "seed": "i5", "offset": "i6"}),
    (f"{A}\n   = rng_uniform_range({{4}}, d1, double(2), double);", "rng", "rng_uniform_range", ["T1"], ["d1"], {"sizes": (4,), "parameters": ("d1", "double(2)"), "dtype": "double"}),
    (f"{A}\n   = rng_normal_standard({{4}}, float, 3);", "rng", "rng_normal_standard", ["T1"], [], {"sizes": (4,), "dtype": "float", "seed": 3}),
    (f"{A}\n   = rng_normal_general({{4}}, d1, d2, float, ( i5 + 1 ));", "rng", "rng_normal_general", ["T1"], ["d1", "d2", "i5"], {"sizes": (4,), "parameters": ("d1", "d2"), "dtype": "float", "seed": "( i5 + 1 )"}),
]  # fmt: skip

INDEXING: list[Row] = [
    (f"{A}\n   = select( {B}, axis = iS2{{i0}}, index = i7 )", "select", "select", ["T1"], ["T2", "i7"], {"axis": "iS2{i0}", "index": "i7"}),
    (f"{A}\n   = indexSelect( {B}, dim = 0, {C} )", "index_select", "indexSelect", ["T1"], ["T2", "T3"], {"dim": 0}),
    (f"{A}\n   = index_select( {B}, dim = 0, {C} )", "index_select", "index_select", ["T1"], ["T2", "T3"], {"dim": 0}),
    (f"{A}\n   = takeAlongAxis( {B}, {C}, dim = 1 )", "gather", "takeAlongAxis", ["T1"], ["T2", "T3"], {"dim": 1}),
    (f"{A}\n   = take_along_axis( {B}, {C}, dim = 1 )", "gather", "take_along_axis", ["T1"], ["T2", "T3"], {"dim": 1}),
    (f"{A}\n   = torchGather( {B}, dim = 1, {C} )", "gather", "torchGather", ["T1"], ["T2", "T3"], {"dim": 1}),
    (f"{A}\n   = torch_gather( {B}, dim = 1, {C} )", "gather", "torch_gather", ["T1"], ["T2", "T3"], {"dim": 1}),
    (f"{A}\n   = scatter(in = {B}, dim = 1, src = {C}, idx = {IDX} )", "scatter", "scatter", ["T1"], ["T2", "T3", "T7"], {"in": "T2", "dim": 1, "src": "T3", "idx": "T7"}),
    (f"{A}\n   = scatter(in = {B}, dim = 1, src = float(1), idx = {IDX}, accumulate = add )", "scatter", "scatter", ["T1"], ["T2", "T7"], {"in": "T2", "dim": 1, "src": "float(1)", "idx": "T7", "accumulate": "add"}),
    (f"{A}\n   =scatter(in = {B}, dim = 1, src = {C}, idx = {IDX} )", "scatter", "scatter", ["T1"], ["T2", "T3", "T7"], {"in": "T2", "dim": 1, "src": "T3", "idx": "T7"}),
    (f"{A}\n   =scatter(self = {B}, dim = 1, src = {C}, idx = {IDX} )", "scatter", "scatter", ["T1"], ["T2", "T3", "T7"], {"in": "T2", "dim": 1, "src": "T3", "idx": "T7"}),
    (f"{A}\n   = indexPutAccumulate( {B}, {IDX}, {C} )", "index_put", "indexPutAccumulate", ["T1"], ["T2", "T7", "T3"], {}),
    (
        f"{A},\n   = embedding({IDX},\n            {B},\n            padding_idx = i3,\n            max_norm = d4,\n            norm_type = double(2),\n"
        "            scale_grad_by_freq = false,\n            sparse = false)",
        "embedding", "embedding", ["T1"], ["T7", "T2", "i3", "d4"],
        {"padding_idx": "i3", "max_norm": "d4", "norm_type": "double(2)", "scale_grad_by_freq": False, "sparse": False},
    ),
    (f"{A} = argsort( {B}, dim = 1, descending = True, stable = False )", "argsort", "argsort", ["T1"], ["T2"], {"dim": 1, "descending": True, "stable": False}),
    (f"( {A}, {IDX} ) = topk( {B}, 5, dim = 1, largest = True, sorted = True )", "topk", "topk", ["T1", "T7"], ["T2"], {"k": 5, "dim": 1, "largest": True, "sorted": True}),
    (f"( {A}, {IDX} ) = topk( {B}, i3, dim = 1, largest = False, sorted = True )", "topk", "topk", ["T1", "T7"], ["T2", "i3"], {"k": "i3", "dim": 1, "largest": False, "sorted": True}),
]  # fmt: skip

PRODUCTS: list[Row] = [
    (f"{A}\n   = mma({B},\n         {C})", "mma", "mma", ["T1"], ["T2", "T3"], {}),
    (f"{A}\n   = matmul({B},\n            {C})", "matmul", "matmul", ["T1"], ["T2", "T3"], {}),
    (f"{A}\n   = linear({B},\n            {C}  )", "linear", "linear", ["T1"], ["T2", "T3"], {}),
    (f"{A}\n   = linear({B},\n            {C}  ,\n          {D}  )", "linear", "linear", ["T1"], ["T2", "T3", "T4"], {"bias": "T4"}),
    (f"{A} = GroupedMmaOp(mat1={B}, mat2={C}, offsets={D})", "grouped_matmul", "GroupedMmaOp", ["T1"], ["T2", "T3", "T4"], {"mat1": "T2", "mat2": "T3", "offsets": "T4"}),
    (
        f"{A}, {F} = GroupedMmaOp(mat1={B}, mat2={C}, offsets={D}, scale1={E}, scale2={G}, alpha={B}, bias={C}, beta={D})",
        "grouped_matmul", "GroupedMmaOp", ["T1", "T6"], ["T2", "T3", "T4", "T5", "T9", "T2", "T3", "T4"],
        {"mat1": "T2", "mat2": "T3", "offsets": "T4", "scale1": "T5", "scale2": "T9", "alpha": "T2", "bias": "T3", "beta": "T4"},
    ),
    (
        f"{A} = ScaledMmaOp(mat1={B}, mat2={C}, scale1={D}, scale2={E}, alpha={F})",
        "scaled_matmul", "ScaledMmaOp", ["T1"], ["T2", "T3", "T4", "T5", "T6"], {"mat1": "T2", "mat2": "T3", "scale1": "T4", "scale2": "T5", "alpha": "T6"},
    ),
    (
        f"{A} = CutlassNvfp4GroupedMmaOp(mat1={B}, mat2={C}, scale1={D}, scale2={E}, alpha={F}, problem_sizes={G}, expert_offsets={IDX}, sf_offsets={IDX})",
        "grouped_matmul", "CutlassNvfp4GroupedMmaOp", ["T1"], ["T2", "T3", "T4", "T5", "T6", "T9", "T7", "T7"],
        {"mat1": "T2", "mat2": "T3", "scale1": "T4", "scale2": "T5", "alpha": "T6", "problem_sizes": "T9", "expert_offsets": "T7", "sf_offsets": "T7"},
    ),
    (
        f"{A}\n   = preprocessGroupedMatmulInputSf(\n    input = {B},\n    input_offsets = {C},\n    output_offsets = {D},\n    layout = Block128x4\n  )",
        "preprocess_scales", "preprocessGroupedMatmulInputSf", ["T1"], ["T2", "T3", "T4"],
        {"input": "T2", "input_offsets": "T3", "output_offsets": "T4", "layout": "Block128x4"},
    ),
    (f"({A},\n {B})\n = block_quantize({C})", "block_quantize", "block_quantize", ["T1", "T2"], ["T3"], {"scale": "T1", "quantized": "T2"}),
    (f"({A},\n {B})\n = grouped_block_quantize({C},\n {D},\n {E})", "block_quantize", "grouped_block_quantize", ["T1", "T2"], ["T3", "T4", "T5"], {"scale": "T1", "quantized": "T2"}),
    (
        f"{A}\n   = sdpa({B},\n            {C},\n            {D},\n            dropout_p = double(0),\n            is_causal = true  )",
        "sdpa", "sdpa", ["T1"], ["T2", "T3", "T4"], {"dropout_p": "double(0)", "is_causal": True},
    ),
    (
        f"{A},\n{E},\n{F},\n{G}\n   = sdpa({B},\n            {C},\n            {D},\n            dropout_p = double(0),\n            is_causal = false  ,\n          scale = double(0.125)  )",
        "sdpa", "sdpa", ["T1", "T5", "T6", "T9"], ["T2", "T3", "T4"], {"dropout_p": "double(0)", "is_causal": False, "scale": "double(0.125)"},
    ),
    (
        f"{A},\n{E},\n{F},\n{G}\n   = sdpa({B},\n            {C},\n            {D},\n            bias={IDX},\n            mask={Z},\n            dropout_p = d1,\n            is_causal=true,\n            scale=double(0.125),\n  )",
        "sdpa", "sdpa", ["T1", "T5", "T6", "T9"], ["T2", "T3", "T4", "T7", "T8", "d1"],
        {"bias": "T7", "mask": "T8", "dropout_p": "d1", "is_causal": True, "scale": "double(0.125)"},
    ),
    (
        f"{A},\n{E},\n{F}\n   = sdpa_bwd({B},\n            {C},\n            {D},\n            {G},\n            {IDX},\n            logsum_exp = {Z},\n            dropout_p = double(0),\n            is_causal = true,\n"
        f"            philox_seed = {B},\n            philox_offset = {C},\n  ,\n          scale = double(0.5)  )",
        "sdpa", "sdpa_bwd", ["T1", "T5", "T6"], ["T2", "T3", "T4", "T9", "T7", "T8", "T2", "T3"],
        {"logsum_exp": "T8", "dropout_p": "double(0)", "is_causal": True, "philox_seed": "T2", "philox_offset": "T3", "scale": "double(0.5)"},
    ),
    (
        f"{A},\n{E},\n{F}\n   = sdpa_bwd({B},\n            {C},\n            {D},\n            {G},\n            {IDX},\n            logsum_exp = {Z},\n            cum_seq_q = {B},\n            cum_seq_k = {C},\n"
        f"            max_q = i1,\n            max_k = i2,\n            dropout_p = double(0),\n            is_causal = true,\n            philox_seed = {B},\n            philox_offset = {C},\n  )",
        "sdpa", "sdpa_bwd", ["T1", "T5", "T6"], ["T2", "T3", "T4", "T9", "T7", "T8", "T2", "T3", "i1", "i2", "T2", "T3"],
        {"logsum_exp": "T8", "cum_seq_q": "T2", "cum_seq_k": "T3", "max_q": "i1", "max_k": "i2", "dropout_p": "double(0)", "is_causal": True, "philox_seed": "T2", "philox_offset": "T3"},
    ),
]  # fmt: skip

OTHERS: list[Row] = [
    (
        f"Communication 3 (type=Allgather, team=(0 1), input={B}, output={A}, backend=NCCL)",
        "communication", "Communication", ["T1"], ["T2"], {"type": "Allgather", "team": (0, 1), "input": "T2", "output": "T1", "backend": "NCCL"},
    ),
    (
        f"Communication 3 (type=Broadcast, team=(0 1), root=i3, input={B} (DeviceMesh{{0 1}}), output={A})",
        "communication", "Communication", ["T1"], ["i3", "T2"], {"type": "Broadcast", "team": (0, 1), "root": "i3", "input": "T2", "output": "T1"},
    ),
    (
        f"P2PCommunication 4 (type=send, buffer={B}, peer=i3, backend=NCCL)",
        "communication", "P2PCommunication", [], ["T2", "i3"], {"type": "send", "buffer": "T2", "peer": "i3", "backend": "NCCL"},
    ),
    (
        f"CollectivePermute 5 (team=(0 1 2), send_peer=( i3 + 1 ), recv_peer=i4, input={B}, output={A}, backend=NCCL)",
        "communication", "CollectivePermute", ["T1"], ["i3", "i4", "T2"],
        {"team": (0, 1, 2), "send_peer": "( i3 + 1 )", "recv_peer": "i4", "input": "T2", "output": "T1", "backend": "NCCL"},
    ),
    (
        f"Dispatch 4 (num_experts=8, backend=NCCL, in={B}, topk_idx={C}, topk_weights={D}, out={A})",
        "moe_dispatch", "Dispatch", ["T1"], ["T2", "T3", "T4"],
        {"num_experts": 8, "backend": "NCCL", "in": "T2", "topk_idx": "T3", "topk_weights": "T4", "out": "T1"},
    ),
    (
        f"Combine 5 (backend=NCCL, in={B}, topk_weights={C}, src_idx={D}, out={A})",
        "moe_combine", "Combine", ["T1"], ["T2", "T3", "T4"], {"backend": "NCCL", "in": "T2", "topk_weights": "T3", "src_idx": "T4", "out": "T1"},
    ),
    (f"{A} = launchDependentGrid({B}, {C})", "grid_dependency", "launchDependentGrid", ["T1"], ["T2", "T3"], {}),
    (f"{A} = waitForPriorGrid({B})", "grid_dependency", "waitForPriorGrid", ["T1"], ["T2"], {}),
]  # fmt: skip

ALL = [*SCALARS, *ELEMENTWISE, *VIEWS, *REDUCTIONS, *FACTORIES, *INDEXING, *PRODUCTS, *OTHERS]


@pytest.mark.parametrize(("text", "kind", "op", "outputs", "inputs", "attributes"), ALL)
def test_known(
    text: str, kind: str, op: str, outputs: list[str], inputs: list[str], attributes: dict[str, object]
) -> None:
    expr = parse(text)
    assert (expr.kind, expr.op) == (kind, op)
    assert expr.outputs == tuple(outputs)
    assert expr.inputs == tuple(inputs)
    assert expr.attributes == attributes
    assert {name: type(value) for name, value in expr.attributes.items()} == {
        name: type(value) for name, value in attributes.items()
    }
    assert expr.text == text
    assert expr.id == 7


def test_every_operator_with_a_kind_of_its_own_has_a_row() -> None:
    """The other loads and stores differ in their name alone; see ``test_operators``."""
    rows = {op for _, _, op, *_ in ALL}
    assert {op for op, kind in NAMED.items() if kind != "load_store"} <= rows


@pytest.mark.parametrize(
    ("text", "op"),
    [
        (f"{A}\n   = frobnicate( {B}, widgets = 3 )", "frobnicate"),
        (f"{A}\n   = {B} <=> {C};", "T2 <=> T3"),
        (f"{A}\n   = {B} * {C} * {C};", "T2 * T3 * T3"),
        (f"{A}\n   = {{{B}}} {{{C}}};", "{T2} {T3}"),
        (f"GroupedThing( {A}, {B} )", "GroupedThing"),
        (f"GroupedThing( x = {A}, y = {B} )", "GroupedThing"),
        (f"{A} {B}", "T1 T2"),
    ],
)
def test_unknown_stays_as_text(text: str, op: str) -> None:
    expr = parse(text)
    assert (expr.kind, expr.op, expr.text) == ("unknown", op, text)
    assert set(expr.outputs + expr.inputs) >= {"T1", "T2"}
    assert not expr.is_metadata


@pytest.mark.parametrize(
    "text",
    [
        f"{A}\n   = cat( {B}, {C}",
        f"{A}\n   = pad( {B} )",
        f"{A}\n   = slice( {B} )",
        f"{A}\n   = topk( {B} )",
        f"{A}\n   = full( )",
        f"{A}\n   = full( 3 )",
        f"{A}\n   = rng_uniform({{i0}})",
        f"{A}\n   = rng_uniform()",
        f"{OLD_A}\n   = shift( {OLD_B} )",
        f"GroupedReductionOp(\n  {A} = reduction( {C} )\n  allreduce = false )",
        "T1_l_float[iS1{8}\n   = relu(i0);",
    ],
)
def test_a_statement_that_lacks_something_is_an_error(text: str) -> None:
    with pytest.raises(UnbalancedError):
        parse(text)


pieces = st.sampled_from(
    [A, B, OLD_C, "T", "T1_g_", "[", "]", "{", "}", "(", ")", "<", ">", " = ", " =scatter(", ", ", " ", "\n", ";", "=", "-"]
    + ["i0", "d3.x", "a4[0]", "float(1)", "true", "(float)", "(Avg)", "initial value = ", "allreduce = ", " ex ", " : "]
    + ["GroupedReductionOp(", "GroupedWelford(", "Communication 3 (", " + ", "Ragged", "iS1", "0", "_p", "\0", "é", "٣"]
    + [f"{op}(" for op in NAMED]
)  # fmt: skip


@given(st.one_of(st.lists(pieces, max_size=25).map("".join), st.text()))
def test_no_text_raises_anything_but_our_own_error(text: str) -> None:
    try:
        expr = parse(text)
    except SegscopeError:
        return
    assert expr.text == text


@given(st.sampled_from(ALL), st.data())
def test_a_damaged_statement_raises_nothing_but_our_own_error(row: Row, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(row[0])))
    end = data.draw(st.integers(begin, len(row[0])))
    try:
        parse(row[0][:begin] + data.draw(pieces) + row[0][end:])
    except SegscopeError:
        return
