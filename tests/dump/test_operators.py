"""Every operator that nvFuser prints, or has printed since March 2023, is known by its class."""

import pytest

from segscope.dump import statements
from segscope.dump.values import Tensors
from segscope.model import Expr

UNARY = """
    abs acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atanh atanhf ceil ceilf cos cosf cosh coshf exp
    expf exp2 exp2f expm1 expm1f erf erff erfc erfcf erfinv erfinvf erfcinv erfcinvf floor floorf frac silu lgamma
    lgammaf log logf log10 log10f log1p log1pf log2 log2f bit_cast bit_ceil bit_ceilf print reciprocal relu rsqrt
    rsqrtf nearbyint nearbyintf sigmoid signbit signbitf sin sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf trunc
    truncf isfinite isinf isnan isneginf isposinf isreal std::real std::imag erase_type not
""".split()

PREFIX = ["-", "!", "~"]

BINARY = """
    atan2 atan2f fmod fmodf max fmax min fmin nextafter pow remainder std::complex ceilDiv gcd and or xor
""".split()

INFIX = "+ / * - % << >> == >= > <= < != && || & | ^".split()

TERNARY = ["clamp", "lerp", "threshold", "where"]

CASTS = """
    __to_float __real_then_to_float __to_int8 __to_int16 __to_int32 __to_int64 __real_then_to_int8
    __real_then_to_int16 __real_then_to_int32 __real_then_to_int64 __to_uint8 __to_uint16 __to_uint32 __to_uint64
    __real_then_to_uint8 __real_then_to_uint16 __real_then_to_uint32 __real_then_to_uint64 __to_index
    __real_then_to_index __to_double __real_then_to_double __to_bool __real_then_to_bool __to_complex_double
    __to_complex_float __float2half __double2half __int2half __bool2half __real_then_2half __half2float __half2double
    __half2int32 __half2int __half2uint32 __half2uint __half2index __half2bool __half2complex_float
    __half2complex_double __float2bfloat __double2bfloat __half2bfloat __int2bfloat __bool2bfloat __real_then_2bfloat
    __bfloat2float __bfloat2double __bfloat2half __bfloat2int32 __bfloat2int __bfloat2uint32 __bfloat2uint
    __bfloat2index __bfloat2bool __bfloat2complex_float __bfloat2complex_double __e5m22float __e5m22double __e5m22half
    __e5m22bfloat __float2e5m2 __double2e5m2 __half2e5m2 __bfloat2e5m2 __e4m32float __e4m32double __e4m32half
    __e4m32bfloat __float2e4m3 __double2e4m3 __half2e4m3 __bfloat2e4m3 __e8m02float __e8m02double __e8m02half
    __e8m02bfloat __float2e8m0 __double2e8m0 __half2e8m0 __bfloat2e8m0 __e2m12float __e2m12double __e2m12half
    __e2m12bfloat __float2e2m1 __double2e2m1 __half2e2m1 __bfloat2e2m1
""".split()

_UNTIL_JULY_2025 = "float int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t nvfuser_index_t double bool"

CASTS_UNTIL_JULY_2025 = [
    *(f"({dtype})" for dtype in [*_UNTIL_JULY_2025.split(), "std::complex<double>", "std::complex<float>"]),
    *(f"({dtype})std::real" for dtype in _UNTIL_JULY_2025.split()),
    "(std::complex<float>)__half2float",
    "(std::complex<double>)__half2double",
    "(std::complex<float>)__bfloat2float",
    "(std::complex<double>)__bfloat2double",
]

LOAD_STORE = """
    LdMatrix LdMatrixTranspose StMatrix CpAsync CpAsyncCa CpAsyncCg CpAsyncBulk CpAsyncBulkTensorTile LdTMem StTMem
""".split()


def parse(right: str) -> Expr:
    return Expr.model_validate(statements.parse(f"T1_l_float[iS1{{8}}]\n   = {right}", 7, Tensors()))


def mention(number: int) -> str:
    return f"T{number}_g_float[iS{number}{{8}}]"


@pytest.mark.parametrize(
    ("kind", "op", "operands"),
    [
        *(("unary", op, 1) for op in UNARY),
        *(("binary", op, 2) for op in BINARY),
        *(("ternary", op, 3) for op in TERNARY),
        *(("cast", op, 1) for op in CASTS + CASTS_UNTIL_JULY_2025),
    ],
)
def test_functions(kind: str, op: str, operands: int) -> None:
    expr = parse(f"{op}({chr(10).join(f'  , {mention(n + 2)}' for n in range(operands))[4:]});")
    assert (expr.kind, expr.op) == (kind, op)
    assert expr.inputs == tuple(f"T{n + 2}" for n in range(operands))
    assert ("to" in expr.attributes) == (kind == "cast")


@pytest.mark.parametrize("op", PREFIX)
def test_prefix_operators(op: str) -> None:
    expr = parse(f"{op}{mention(2)};")
    assert (expr.kind, expr.op, expr.inputs) == ("unary", op, ("T2",))


@pytest.mark.parametrize("op", INFIX)
@pytest.mark.parametrize("left", [mention(2), "double(1e-05)", "std::complex<double>((1,-inf))", "-3", "i2"])
def test_infix_operators(op: str, left: str) -> None:
    expr = parse(f"{left}\n   {op} {mention(3)};")
    assert (expr.kind, expr.op) == ("binary", op)
    assert expr.inputs[-1] == "T3"


@pytest.mark.parametrize("op", LOAD_STORE)
@pytest.mark.parametrize("modifier", ["", ".Permute"])
def test_loads_and_stores(op: str, modifier: str) -> None:
    expr = parse(f"{op}{modifier}( {mention(2)}, cache_op=AllLevels )")
    assert (expr.kind, expr.op, expr.inputs) == ("load_store", op + modifier, ("T2",))
    assert expr.attributes == {"cache_op": "AllLevels"}


@pytest.mark.parametrize(
    "op", ["frobnicate", "__foo2bar", "__to_", "(foo)", "(float)foo", "relu2", "Set.Transpose", "Split"]
)
def test_anything_else_is_unknown(op: str) -> None:
    expr = parse(f"{op}({mention(2)});")
    assert expr.kind == "unknown"
    assert expr.inputs == ("T2",)
