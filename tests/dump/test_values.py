"""Tensors, iter domains and extents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.dump.extents import constant
from segscope.dump.scan import UnbalancedError, closing, depth_after, split
from segscope.dump.values import Tensors, iter_domain
from segscope.model import IterDomain, Tensor


def tensor(mention: str) -> Tensor:
    tensors = Tensors()
    name = tensors.abbreviate(mention)
    assert list(tensors.records) == [name]
    return Tensor.model_validate(tensors.records[name])


def dimension(text: str) -> IterDomain:
    return IterDomain.model_validate(iter_domain(text))


@pytest.mark.parametrize(
    ("mention", "memory", "dtype", "rank"),
    [
        ("T12_g___bfloat[iS1{4}, bS2{1}, iS3{i2}rf]", "g", "__bfloat", 3),
        ("T0_g[ iS0{2}, iS1{4096} ]", "g", None, 2),
        ("T0_g_float[ iS0{2} ]", "g", "float", 1),
        ("T7_g_int64_t[]", "g", "int64_t", 0),
        ("T7_l[ ]", "l", None, 0),
        ("T3_sym_std::complex<float>[iS0{2}]", "sym", "std::complex<float>", 1),
        ("T3_t_Array<float, 2, 1>[iS0{2}]", "t", "Array<float, 2, 1>", 1),
        ("T5_g_float[iS3{( i0 * i2 )}rf, iS4{( ( 8 - 2 ) + 1 )}rf]", "g", "float", 2),
        ("T5_g_float[iS3{( ( (getMetaData(T0)).logical_size )[0] )}]", "g", "float", 1),
    ],
)
def test_tensors(mention: str, memory: str, dtype: str | None, rank: int) -> None:
    read = tensor(mention)
    assert (read.memory, read.dtype, len(read.domain), read.suffix) == (memory, dtype, rank, "")


@pytest.mark.parametrize("suffix", ["(DeviceMesh{0 1})", "(DeviceMesh{{0 1}{2 3}})", "ca_pos( 2 )"])
def test_what_follows_a_domain_belongs_to_the_tensor(suffix: str) -> None:
    tensors = Tensors()
    assert tensors.abbreviate(f"relu(T0_g_float[iS1{{64}}] {suffix});") == "relu(T0);"
    assert tensors.records["T0"]["suffix"] == suffix


def test_a_mention_within_a_statement() -> None:
    tensors = Tensors()
    short = tensors.abbreviate("T2_l_float[iS2{8}]\n   = T0_g_float[iS0{8}]\n   * T0_g_float[iS0{8}];")
    assert short == "T2\n   = T0\n   * T0;"
    assert list(tensors.records) == ["T2", "T0"]


def test_an_unclosed_tensor_is_an_error() -> None:
    with pytest.raises(UnbalancedError, match="T0_g_float"):
        Tensors().abbreviate("T0_g_float[iS0{8}, iS1{")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("iS46{2}", {"iter_type": "i", "parallel_type": "S", "number": 46, "extent": "2", "size": 2}),
        ("bS90{1 ex 2}", {"iter_type": "b", "size": 1, "expanded_extent": "2", "expanded_size": 2}),
        ("bS90{1 ex ( i0 * 2 )}", {"expanded_extent": "( i0 * 2 )", "expanded_size": None}),
        ("rS5{i2}", {"iter_type": "r", "extent": "i2", "size": None}),
        ("ideviceIdx.x0{2}", {"parallel_type": "deviceIdx.x", "number": 0}),
        ("iUS7{1}", {"parallel_type": "US", "number": 7}),
        ("iblockIdx.y12{( ceilDiv(i0, 4) )}", {"parallel_type": "blockIdx.y", "extent": "( ceilDiv(i0, 4) )"}),
        ("?S9{i7}rf", {"iter_type": "?", "rfactor": True}),
        ("iS9{7}rf_p", {"rfactor": True, "padded": True, "clustered": False}),
        ("iS9{1 : 7}", {"start": "1", "extent": "7", "size": 7}),
    ],
)
def test_iter_domains(text: str, expected: dict[str, object]) -> None:
    read = dimension(text).model_dump()
    assert {name: read[name] for name in expected} == expected


def test_a_shape_is_what_is_read() -> None:
    read = tensor("T3_g_float[bS0{1 ex 2}, iS1{( 4 * 8 )}, rS2{7}, iS3{i0}]")
    assert read.shape == (2, 32, None)
    assert read.stored_bytes is None
    assert tensor("T3_g___bfloat[bS0{1 ex 2}, iS1{8}]").stored_bytes == 16


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128", 128),
        ("( ceilDiv(( ceilDiv(15360, 40) ), 3) )", 128),
        ("( ( ( ( fmax(0, ( fmin(( ceilDiv(( ceilDiv(15360, 40) ), 3) ), 64) )) ) + 64 ) - 64 ) + 64 )", 128),
        ("( -7 / 2 )", -3),
        ("( -7 % 2 )", -1),
        ("( 2 + 3 * 4 )", 14),
        ("i0", None),
        ("( i0 * 2 )", None),
        ("( 1 / 0 )", None),
        ("( 1 + )", None),
        ("( 1", None),
        ("", None),
        ("1.5", None),
        ("9" * 5000, None),
        ("(" * 5000 + "1" + ")" * 5000, None),
    ],
)
def test_constants(text: str, value: int | None) -> None:
    assert constant(text) == value


expressions = st.recursive(
    st.integers(0, 10**6).map(str),
    lambda inner: st.builds("( {} {} {} )".format, inner, st.sampled_from("+-*"), inner),
    max_leaves=30,
)


@given(expressions)
def test_constants_agree_with_python(text: str) -> None:
    assert constant(text) == eval(text)


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
