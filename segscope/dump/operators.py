"""Which kind of expression an operator is (spec section 1.5)."""

from typing import Final

NAMED: Final = {
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
    "reduction": "reduction",
    "Welford": "welford",
    "full": "full",
    "iota": "iota",
    "eye": "eye",
    "select": "select",
    "indexSelect": "index_select",
    "index_select": "index_select",
    "takeAlongAxis": "gather",
    "take_along_axis": "gather",
    "torchGather": "gather",
    "torch_gather": "gather",
    "scatter": "scatter",
    "indexPutAccumulate": "scatter",
    "matmul": "matmul",
    "linear": "linear",
    "mma": "mma",
    "sdpa": "sdpa",
    "sdpa_bwd": "sdpa",
    "embedding": "embedding",
    "argsort": "argsort",
    "topk": "topk",
    "scan": "scan",
    "rng_uniform": "rng",
    "rng_uniform_range": "rng",
    "rng_normal_standard": "rng",
    "rng_normal_general": "rng",
}
"""Operators with a kind of their own."""

BINARY: Final = frozenset(
    [
        "atan2",
        "atan2f",
        "fmod",
        "fmodf",
        "max",
        "fmax",
        "min",
        "fmin",
        "nextafter",
        "pow",
        "remainder",
        "std::complex",
        "ceilDiv",
        "gcd",
    ]
)
"""Binary operators that are printed as functions."""

TERNARY: Final = frozenset(["clamp", "lerp", "threshold", "where"])

INFIX: Final = ("+", "-", "*", "/", "%", "==", "!=", ">=", "<=", ">", "<", "&&", "||", "<<", ">>", "&", "|", "^")

PREFIX: Final = ("-", "!", "~")

UNARY: Final = frozenset(
    """
    abs acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atanh atanhf bit_cast bit_ceil bit_ceilf ceil ceilf
    cos cosf cosh coshf erase_type erf erff erfc erfcf erfcinv erfcinvf erfinv erfinvf exp exp2 exp2f expf expm1 expm1f
    floor floorf frac isfinite isinf isnan isneginf isposinf isreal lgamma lgammaf log log10 log10f log1p log1pf log2
    log2f logf nearbyint nearbyintf print reciprocal relu rsqrt rsqrtf sigmoid signbit signbitf silu sin sinf sinh sinhf
    sqrt sqrtf std::imag std::real tan tanf tanh tanhf trunc truncf
    """.split()
)


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
    if op.startswith(("__to_", "__real_then_")) or (op.startswith("__") and "2" in op):
        return "cast"
    return "unknown"
