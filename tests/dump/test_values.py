"""Tensors, iter domains and extents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.dump.extents import constant
from segscope.dump.scan import UnbalancedError, closing, depth_after, split
from segscope.dump.values import Tensors, iter_domain
from segscope.errors import SegscopeError
from segscope.model import IterDomain, Tensor

DTYPES = [
    *"bool double float __half __bfloat __e4m3 __e5m2 __e8m0 __e2m1 __e2m1_x2 e2m1 nvfuser_index_t null_type".split(),
    *"int8_t int16_t int int64_t uint8_t uint16_t uint32_t uint64_t float* St6vectorIlSaIlEE".split(),
    "std::complex<float>",
    "std::complex<double>",
    "Array<float, 2, 1>",
    "Array<std::complex<float>, 2, 1>*",
    "Tensor<float, 2, 2>",
    "struct { int x; }",
]

PARALLEL_TYPES = """
    S V UR US MMA MV G B blockIdx.x blockIdx.y blockIdx.z threadIdx.x threadIdx.y threadIdx.z deviceIdx.x deviceIdx.y
    deviceIdx.z Stream StreamIdx streamIdx
""".split()


def tensor(mention: str) -> Tensor:
    tensors = Tensors()
    name = tensors.abbreviate(mention)
    assert list(tensors.records) == [name]
    return Tensor.model_validate(tensors.records[name])


def dimension(text: str) -> IterDomain:
    return iter_domain(text)


@pytest.mark.parametrize(
    ("mention", "memory", "dtype", "rank"),
    [
        ("T12_g___bfloat[iS1{4}, bS2{1}, iS3{i2}rf]", "g", "__bfloat", 3),
        ("T0_g[ iS0{2}, iS1{4096} ]", "g", None, 2),
        ("T0_g_float[ iS0{2} ]", "g", "float", 1),
        ("T7_g_int64_t[]", "g", "int64_t", 0),
        ("T7_l[ ]", "l", None, 0),
        ("T7_l[ 0 ]", "l", None, 0),
        ("T7_g_float[ ]", "g", "float", 0),
        ("T5_g_float[iS3{( i0 * i2 )}rf, iS4{( ( 8 - 2 ) + 1 )}rf]", "g", "float", 2),
        ("T5_g_float[iS3{( ceilDiv(( ceilDiv(i7, 4) ), 6) )}rf, iS4{8}]", "g", "float", 2),
        ("T5_g_float[iS3{( ( (getMetaData(T0)).logical_size )[0] )}, iS4{8}]", "g", "float", 2),
        ("T5_g_float[iS3{( ( { 1, i0 } )[( a4[0] )] )}, iS4{8}]", "g", "float", 2),
        ("T5_g_float[iS1{4}, iS2Ragged{extents=T6_g_int64_t[iS7{4}, iS8{2}]}, iS3{8}]", "g", "float", 3),
    ],
)
def test_tensors(mention: str, memory: str, dtype: str | None, rank: int) -> None:
    read = tensor(mention)
    assert (read.memory, read.dtype, len(read.domain)) == (memory, dtype, rank)


@pytest.mark.parametrize("memory", ["g", "l", "s", "t", "sym"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_memories_and_dtypes(memory: str, dtype: str) -> None:
    read = tensor(f"T31_{memory}_{dtype}[iS1{{64}}]")
    assert (read.name, read.memory, read.dtype, read.shape) == ("T31", memory, dtype, (64,))


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        (" (DeviceMesh{0 1})", {"mesh": "{0 1}", "devices": (0, 1)}),
        (" (DeviceMesh{{0 1}{2 3}})", {"mesh": "{{0 1}{2 3}}", "devices": (0, 1, 2, 3)}),
        (" (DeviceMesh{0, 1, })", {"mesh": "{0, 1, }", "devices": (0, 1)}),
        (" ca_pos( 2 )", {"ca_pos": 2}),
        (" compute_with( 2 )", {"compute_with": 2, "compute_with_consumers": ()}),
        (" compute_with( T3, T14, 2 )", {"compute_with": 2, "compute_with_consumers": ("T3", "T14")}),
        (" produce_pos( 1 ) maybe_produce_pos( 2 )", {"produce_pos": 1, "maybe_produce_pos": 2, "ca_pos": 0}),
        (" ca_pos( 1 ) produce_pos( 2 ) (DeviceMesh{0})", {"ca_pos": 1, "produce_pos": 2, "mesh": "{0}"}),
    ],
)
def test_what_follows_a_domain_belongs_to_the_tensor(suffix: str, expected: dict[str, object]) -> None:
    tensors = Tensors()
    assert tensors.abbreviate(f"relu(T0_g_float[iS1{{64}}]{suffix});") == "relu(T0);"
    read = Tensor.model_validate(tensors.records["T0"])
    assert {name: getattr(read, name) for name in expected} == expected


def test_a_mention_within_a_statement() -> None:
    tensors = Tensors()
    short = tensors.abbreviate("T2_l_float[iS2{8}]\n   = T0_g_float[iS0{8}]\n   * T0_g_float[iS0{8}];")
    assert short == "T2\n   = T0\n   * T0;"
    assert list(tensors.records) == ["T2", "T0"]
    assert tensors.dtype("T2") == "float"
    assert tensors.conflicts == {}


def test_a_tensor_that_is_mentioned_in_two_ways() -> None:
    tensors = Tensors()
    tensors.abbreviate("T0_g_float[iS0{8}] T0_g_float[iS0{8}] T0_l_float[iS0{8}]")
    assert tensors.records["T0"]["memory"] == "g"
    assert tensors.conflicts == {"T0": "T0_l_float[iS0{8}]"}


@pytest.mark.parametrize("text", ["XT0_g[ ]", "a.T0_g[ ]", "T0_q[ ]", "T_g[ ]", "T0_g", "T0_gg[ ]", "T0_g_[ ]"])
def test_what_is_no_tensor(text: str) -> None:
    tensors = Tensors()
    assert tensors.abbreviate(text) == text
    assert tensors.records == {}


@pytest.mark.parametrize(
    "mention",
    [
        "T0_g_float[iS0{8}, iS1{",
        "T0_g_float[iS0{8}",
        "T0_g_float[iS0{8]",
        "T0_g_float[iS0{[[[[0]]]]}]",
        "T0_g_float[iS{8}]",
        "T0_g_float[xS0{8}]",
        "T0_g_float[iX0{8}]",
        "T0_g_float[iS0{8}rx]",
        "T0_g_float[iS0{8} iS1{8}]",
        "T0_g_float[iS0{8},]",
        "T0_g_float[iS0{( 8}]",
        "T0_g_float[iS0{}]",
    ],
)
def test_a_damaged_tensor_is_an_error(mention: str) -> None:
    with pytest.raises(UnbalancedError):
        Tensors().abbreviate(mention)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iS46{2}", {"iter_type": "i", "parallel_type": "S", "number": 46, "extent": "2", "size": 2}),
        ("bS90{1 ex 2}", {"iter_type": "b", "size": 1, "expanded_extent": "2", "expanded_size": 2}),
        ("bS90{1 ex 2}", {"read_size": 2, "stored_size": 1}),
        ("bS90{1 ex ( i0 * 2 )}", {"expanded_extent": "( i0 * 2 )", "expanded_size": None, "read_size": None}),
        ("bS90{8}", {"iter_type": "b", "extent": "8", "expanded_extent": None, "read_size": 8, "stored_size": 1}),
        ("rS5{i2}", {"iter_type": "r", "extent": "i2", "size": None}),
        ("ideviceIdx.x0{2}", {"parallel_type": "deviceIdx.x", "number": 0}),
        ("iUS7{1}", {"parallel_type": "US", "number": 7}),
        ("iblockIdx.y12{( ceilDiv(i0, 4) )}", {"parallel_type": "blockIdx.y", "extent": "( ceilDiv(i0, 4) )"}),
        ("?S9{i7}rf", {"iter_type": "?", "rfactor": True}),
        ("iS9{7}rf_p", {"rfactor": True, "padded": True, "clustered": False}),
        ("iS9{7}_c", {"rfactor": False, "padded": False, "clustered": True}),
        ("iS9{1 : 7}", {"start": "1", "stop": None, "extent": "7", "size": 7}),
        ("iS9{1 : 6 : 7}", {"start": "1", "stop": "6", "extent": "7", "size": 7}),
        ("bS9{1 : 6 : 1 ex i0}rf", {"start": "1", "stop": "6", "extent": "1", "expanded_extent": "i0"}),
        ("iS1Ragged{extents=T5_g_int64_t[iS3{4}]}", {"ragged": True, "extent": "T5_g_int64_t[iS3{4}]", "size": None}),
    ],
)  # fmt: skip
def test_iter_domains(text: str, expected: dict[str, object]) -> None:
    read = dimension(text)
    assert {name: getattr(read, name) for name in expected} == expected


@pytest.mark.parametrize("iter_type", list("irbsnv?"))
@pytest.mark.parametrize("parallel_type", PARALLEL_TYPES)
def test_types_of_iter_domains(iter_type: str, parallel_type: str) -> None:
    read = dimension(f"{iter_type}{parallel_type}12{{4}}")
    assert (read.iter_type, read.parallel_type, read.number) == (iter_type, parallel_type, 12)


def test_a_shape_is_what_is_read() -> None:
    read = tensor("T3_g_float[bS0{1 ex 2}, iS1{( 4 * 8 )}, rS2{7}, iS3{i0}]")
    assert read.shape == (2, 32, None)
    assert read.stored_bytes is None
    assert tensor("T3_g___bfloat[bS0{1 ex 2}, iS1{8}]").stored_bytes == 16
    assert tensor("T3_g___bfloat[iS0{( 0 - 2 )}, iS1{8}]").stored_bytes is None
    assert tensor("T3_g___bfloat[bS0{2}, iS1{8}]").stored_bytes == 16, "expanded, as printed until January 2024"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128", 128),
        ("( ceilDiv(( ceilDiv(15360, 40) ), 3) )", 128),
        ("( ( ( ( fmax(0, ( fmin(( ceilDiv(( ceilDiv(15360, 40) ), 3) ), 64) )) ) + 64 ) - 64 ) + 64 )", 128),
        ("( max(0, ( min(3, 2) )) )", 2),
        ("( gcd(12, 18) )", 6),
        ("( -7 / 2 )", -3),
        ("( -7 % 2 )", -1),
        ("( 2 + 3 * 4 )", 14),
        ("( 128 )", 128),
        ("-2", -2),
        ("i0", None),
        ("( i0 * 2 )", None),
        ("( 1 / 0 )", None),
        ("( 1 + )", None),
        ("( 1", None),
        ("", None),
        ("1.5", None),
        ("9" * 5000, None),
        ("(" * 5000 + "1" + ")" * 5000, None),
        ("( 999999999999999999 * 10 )", None),
        (" * ".join(["999999999999999999"] * 5000), None),
        ("( 9223372036854775807 )", None),
        ("999999999999999999" + " + 999999999999999999" * 9, None),
    ],
)
def test_constants(text: str, value: int | None) -> None:
    assert constant(text) == value


expressions = st.recursive(
    st.integers(0, 1000).map(str),
    lambda inner: st.builds("( {} {} {} )".format, inner, st.sampled_from("+-*"), inner),
    max_leaves=30,
)


@given(expressions)
def test_constants_agree_with_python(text: str) -> None:
    value = constant(text)
    assert value == eval(text) or (value is None and "*" in text)


bracketed = st.recursive(
    st.text("abc ,=", max_size=4),
    lambda inner: st.builds(
        lambda kind, parts: kind[0] + ", ".join(parts) + kind[1],
        st.sampled_from(["()", "[]", "{}"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=20,
)


@given(st.lists(bracketed.filter(lambda text: depth_after(text) == 0 and "; " not in text)))
def test_split_undoes_join(parts: list[str]) -> None:
    assert split("; ".join(parts), "; ") == (parts or [""])


@given(bracketed)
def test_closing_closes(inner: str) -> None:
    text = f"x[{inner}] y"
    assert closing(text, 1) == len(text) - 3


@given(st.text("T0_gl12[]{}()iSbr, <>:*ex") | st.text())
def test_no_text_raises_anything_but_our_own_error(text: str) -> None:
    try:
        Tensors().abbreviate(f"T0_g[{text}]")
        Tensors().abbreviate(text)
        iter_domain(text)
    except SegscopeError:
        return
    constant(text)
