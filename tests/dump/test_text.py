"""A tensor that was read prints as it stood there."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.dump.text import iter_domain_text, tensor_text
from segscope.dump.values import Tensors, iter_domain
from segscope.model import Tensor
from tests.conftest import DUMPS

_MENTION = re.compile(r"\bT\d+_[a-z]\w*\[[^\[\]]*\]")


def read(mention: str) -> Tensor:
    tensors = Tensors()
    return Tensor.model_validate(tensors.records[tensors.abbreviate(mention)])


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
def test_every_mention_of_a_real_dump(path: Path) -> None:
    mentions = dict.fromkeys(_MENTION.findall(path.read_text()))
    assert mentions
    for mention in mentions:
        form = {"dtype_in_name": mention.split("[")[0].count("_") > 1, "inner_blanks": mention.endswith(" ]")}
        assert tensor_text(read(mention), **form) == mention


@pytest.mark.parametrize(
    "mention",
    [
        "T7_g_int64_t[]",
        "T3_g_Array<std::complex<float>, 2, 1>[iS0{2}]",
        "T3_t_struct { int x; float y; }[iS0{2}]",
        "T0_sym_float[ideviceIdx.x0{2}, iS1{64}] (DeviceMesh{0 1})",
        "T0_g_float[ideviceIdx.x0{2}, ideviceIdx.y1{2}] (DeviceMesh{{0 1}{2 3}})",
        "T4_l_float[?S9{i7}rf, iS3{( i0 * i2 )}rf_p_c]",
        "T4_s_float[iB9{7}, iblockIdx.x3{4}] ca_pos( 2 ) compute_with( T3, T14, 2 ) produce_pos( 1 )",
        "T4_s_float[iB9{7}] maybe_produce_pos( 2 )",
        "T4_l_float[iS9{7}] compute_with( 2 )",
        "T5_g_float[iS1{4}, iS2Ragged{extents=T6_g_int64_t[iS7{4}, iS8{2}]}, iS3{8}]",
        "T5_g_float[bS1{1 ex i0}, iS2{1 : 7}, iS2{( i1 + 2 ) : 5 : 7}rf]",
    ],
)  # fmt: skip
def test_mentions_of_today(mention: str) -> None:
    assert tensor_text(read(mention), dtype_in_name=True, inner_blanks=False) == mention


def test_mentions_of_earlier_eras() -> None:
    assert tensor_text(read("T0_g[ 0 ]"), dtype_in_name=False, inner_blanks=True, zero=True) == "T0_g[ 0 ]"
    assert tensor_text(read("T0_g[ ]"), dtype_in_name=False, inner_blanks=True) == "T0_g[ ]"
    assert tensor_text(read("T0_g_float[ ]"), dtype_in_name=True, inner_blanks=True) == "T0_g_float[ ]"
    mention = "T0_g[ iS0{2}, bS3{8} ] (DeviceMesh{0, 1, })"
    assert tensor_text(read(mention), dtype_in_name=False, inner_blanks=True) == mention


names = st.builds("{}{}".format, st.sampled_from("idfbas"), st.integers(0, 99))
extents = st.recursive(
    st.integers(0, 10**6).map(str) | names,
    lambda inner: st.builds("( {} {} {} )".format, inner, st.sampled_from("+-*/%"), inner)
    | st.builds("( {}({}, {}) )".format, st.sampled_from(["ceilDiv", "fmax", "where"]), inner, inner)
    | st.builds("( ({})[{}] )".format, inner, st.integers(0, 9))
    | st.builds("( {{ {}, {} }} )".format, inner, inner),
    max_leaves=5,
)  # fmt: skip
iter_domains = st.builds(
    "{}{}{}{{{}{}{}}}{}{}{}".format,
    st.sampled_from("irbsnv?"),
    st.sampled_from(["S", "V", "UR", "US", "MMA", "G", "B", "blockIdx.x", "threadIdx.y", "deviceIdx.z", "streamIdx"]),
    st.integers(0, 9999),
    st.just("") | extents.map("{} : ".format) | st.tuples(extents, extents).map(lambda two: f"{two[0]} : {two[1]} : "),
    extents,
    st.just("") | extents.map(" ex {}".format),
    st.sampled_from(["", "rf"]),
    st.sampled_from(["", "_p"]),
    st.sampled_from(["", "_c"]),
)
positions = st.sampled_from(["", " ca_pos( 3 )", " compute_with( T1, 2 )", " produce_pos( 1 ) maybe_produce_pos( 2 )"])
meshes = st.sampled_from(["", " (DeviceMesh{0})", " (DeviceMesh{{{0 1}}{{2 3}}})"])


@given(iter_domains)
def test_generated_iter_domains(text: str) -> None:
    assert iter_domain_text(iter_domain(text)) == text


@given(
    st.integers(0, 9999),
    st.sampled_from(["g", "l", "s", "t", "sym"]),
    st.sampled_from([None, "float", "__bfloat", "std::complex<double>", "Array<float, 2, 1>"]),
    st.lists(iter_domains, max_size=6),
    positions,
    meshes,
    st.booleans(),
)
def test_generated_tensors(
    number: int, memory: str, dtype: str | None, domain: list[str], position: str, mesh: str, blanks: bool
) -> None:
    inside = ", ".join(domain)
    if blanks:
        inside = f" {inside} " if inside else " "
    mention = f"T{number}_{memory}{'_' + dtype if dtype else ''}[{inside}]{position}{mesh}"
    tensor = read(mention)
    assert tensor_text(tensor, dtype_in_name=dtype is not None, inner_blanks=blanks) == mention
    assert Tensor.model_validate_json(tensor.model_dump_json()) == tensor
