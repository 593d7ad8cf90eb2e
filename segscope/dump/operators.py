"""Which kind of expression an operator is (docs/dump-format.md 1.5, and 2.3 for the spellings of older versions)."""

from typing import Final

from segscope.dump.casts import is_cast

NAMED: Final = {
    # views, and what moves data
    "reshape": "reshape",
    "view": "reshape",
    "Set": "set",
    "Set.Permute": "permute",
    "transpose": "permute",
    "SegmenterSet": "segmenter_set",
    "SegmenterSet.Permute": "segmenter_set",
    "broadcast": "broadcast",
    "squeeze": "squeeze",
    "expand": "expand",
    "repeat": "repeat",
    "slice": "slice",
    "pad": "pad",
    "cat": "cat",
    "shift": "shift",
    "gather": "window_gather",
    "view_as_scalar": "view_as_scalar",
    "LdMatrix": "load_store",
    "LdMatrixTranspose": "load_store",
    "StMatrix": "load_store",
    "CpAsync": "load_store",
    "CpAsyncCa": "load_store",
    "CpAsyncCg": "load_store",
    "CpAsyncBulk": "load_store",
    "CpAsyncBulkTensorTile": "load_store",
    "LdTMem": "load_store",
    "StTMem": "load_store",
    # reductions
    "reduction": "reduction",
    "GroupedReductionOp": "grouped_reduction",
    "Welford": "welford",
    "GroupedWelford": "grouped_welford",
    "scan": "scan",
    # tensors from nothing
    "full": "full",
    "iota": "iota",
    "eye": "eye",
    "rng_uniform": "rng",
    "rng_uniform_range": "rng",
    "rng_normal_standard": "rng",
    "rng_normal_general": "rng",
    "TensorConstruct": "tensor_construct",
    # indexing
    "select": "select",
    "indexSelect": "index_select",
    "index_select": "index_select",
    "takeAlongAxis": "gather",
    "take_along_axis": "gather",
    "torchGather": "gather",
    "torch_gather": "gather",
    "scatter": "scatter",
    "indexPutAccumulate": "index_put",
    "embedding": "embedding",
    "argsort": "argsort",
    "topk": "topk",
    # products
    "matmul": "matmul",
    "linear": "linear",
    "mma": "mma",
    "GroupedMmaOp": "grouped_matmul",
    "CutlassNvfp4GroupedMmaOp": "grouped_matmul",
    "ScaledMmaOp": "scaled_matmul",
    "preprocessGroupedMatmulInputSf": "preprocess_scales",
    "block_quantize": "block_quantize",
    "grouped_block_quantize": "block_quantize",
    "sdpa": "sdpa",
    "sdpa_bwd": "sdpa",
    # structures of scalars
    "getMetaData": "get_metadata",
    "ReverseArray": "reverse_array",
    # several devices
    "Communication": "communication",
    "P2PCommunication": "communication",
    "CollectivePermute": "communication",
    "Dispatch": "moe_dispatch",
    "Combine": "moe_combine",
    # between kernels
    "launchDependentGrid": "grid_dependency",
    "waitForPriorGrid": "grid_dependency",
}
"""Operators with a kind of their own."""

UNARY: Final = frozenset(
    """
    abs acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atanh atanhf bit_cast bit_ceil bit_ceilf ceil ceilf
    cos cosf cosh coshf erase_type erf erff erfc erfcf erfcinv erfcinvf erfinv erfinvf exp exp2 exp2f expf expm1 expm1f
    floor floorf frac isfinite isinf isnan isneginf isposinf isreal lgamma lgammaf log log10 log10f log1p log1pf log2
    log2f logf nearbyint nearbyintf not print reciprocal relu rsqrt rsqrtf sigmoid signbit signbitf silu sin sinf sinh
    sinhf sqrt sqrtf std::imag std::real tan tanf tanh tanhf trunc truncf
    """.split()
)

BINARY: Final = frozenset(
    """
    and atan2 atan2f ceilDiv fmax fmin fmod fmodf gcd max min nextafter or pow remainder std::complex xor
    """.split()
)
"""Binary operators that are printed as functions."""

TERNARY: Final = frozenset(["clamp", "lerp", "threshold", "where"])

INFIX: Final = frozenset("+ - * / % == != >= <= > < && || << >> & | ^".split())

PREFIX: Final = ("-", "!", "~")


def kind_of_function(op: str) -> str:
    """Return the kind of an operator that is printed as a function, ``unknown`` if it is not known."""
    if kind := NAMED.get(op):
        return kind
    if op in UNARY:
        return "unary"
    if op in BINARY:
        return "binary"
    if op in TERNARY:
        return "ternary"
    if is_cast(op):
        return "cast"
    if op.endswith(".Permute") and NAMED.get(op.removesuffix(".Permute")) == "load_store":
        return "load_store"
    return "unknown"
