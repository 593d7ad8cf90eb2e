"""Transform blocks: every real one, and every form of a line since March 2023."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segscope.dump import transforms
from segscope.dump.scan import UnbalancedError
from segscope.dump.text import iter_domain_text
from segscope.dump.values import Tensors
from segscope.errors import SegscopeError
from segscope.model.transforms import TensorTransforms
from tests.conftest import DUMPS

_HEADING = re.compile(r"TransformPrinter :|Fusion Transforms after \w+:")


def parse(text: str, tensors: Tensors | None = None) -> list[TensorTransforms]:
    records = transforms.parse(text.split("\n"), tensors or Tensors())
    return [TensorTransforms.model_validate(record) for record in records]


def real_blocks(path: Path) -> Iterator[list[str]]:
    block: list[str] | None = None
    for line in path.read_text().split("\n"):
        if block is not None and not line.startswith(("T", " ")):
            yield block
            block = None
        if _HEADING.match(line):
            block = []
        elif block is not None:
            block.append(line)


DUMPS_WITH_TRANSFORMS = [path for path in DUMPS if next(real_blocks(path), None)]


def test_there_are_real_blocks() -> None:
    assert len(DUMPS_WITH_TRANSFORMS) == 23


@pytest.mark.parametrize("path", DUMPS_WITH_TRANSFORMS, ids=lambda path: path.stem)
def test_every_line_of_a_real_block_is_read(path: Path) -> None:
    for block in real_blocks(path):
        read = parse("\n".join(block))
        assert [one.tensor for one in read] == [line.split("_")[0] for line in block if line.startswith("T")]
        assert [line for one in read for line in _lines(one)] == _without_headings_and_repeats(block)
        for one in read:
            assert {step.kind for step in one.exprs} <= {"split", "merge", "resize"}
            assert len(one.contiguity) == len(one.allocation or one.logical)
            made = {number for step in one.exprs for number in step.outputs}
            assert set(one.loop) <= made | set(one.root or one.logical)


def _lines(one: TensorTransforms) -> Iterator[str]:
    """The lines of one tensor as they are printed since February 2026, each step once, behind the contiguity."""

    def domain(name: str, numbers: tuple[int, ...] | None) -> Iterator[str]:
        if numbers is not None:
            yield f"{name} domain: ({', '.join(iter_domain_text(one.iter_domain(number)) for number in numbers)})"

    yield from domain("root", one.root)
    yield from domain("logical", one.logical)
    yield from domain("allocation", one.allocation)
    yield " ".join(["contiguity:", *({True: "t", False: "f", None: "n"}[flag] for flag in one.contiguity)])
    yield from (step.text for step in one.exprs)
    yield from domain("loop", one.loop)


def _without_headings_and_repeats(block: list[str]) -> list[str]:
    """The lines of a block; of the steps only those behind the contiguity, which are all of them."""
    lines, in_root = [], False
    for line in block:
        if line.startswith("T"):
            continue
        if "domain:" in line:
            in_root = "root domain:" in line
        if not (in_root and line.startswith("    ")):
            lines.append(line.strip())
    return lines


def test_a_slice_and_a_permute_as_they_are_printed_today() -> None:
    slice_, permute = parse(
        "T7_g_float[iS32{2}, bS35{1}rf]\n"
        "  root domain: (iS32{2}, iS34{3}rf)\n"
        "    Resize: iS34{3}rf by -2 and 0 -> bS35{1}rf\n"
        "  logical domain: (iS32{2}, bS35{1}rf)\n"
        "  allocation domain: (bS35{1}rf, iS32{2})\n"
        "  contiguity: n t\n"
        "    Resize: iS34{3}rf by -2 and 0 -> bS35{1}rf\n"
        "  loop domain: (iS32{2}, bS35{1}rf)\n"
        "  alternate loop domain: (iS32{2})\n"
        "T4_g_float[iS2{3}, iS1{2}, iS3{4}]\n"
        "  root domain: (iS1{2}, iS2{3}, iS3{4})\n"
        "  logical domain: (iS2{3}, iS1{2}, iS3{4})\n"
        "  contiguity: t f t\n"
        "  loop domain: (iS2{3}, iS1{2}, iS3{4})"
    )
    assert slice_.tensor == "T7"
    assert [dim.number for dim in slice_.ids] == [32, 35, 34]
    assert (slice_.root, slice_.logical, slice_.loop) == ((32, 34), (32, 35), (32, 35))
    assert (slice_.allocation, slice_.alternate_loop) == ((35, 32), (32,))
    assert slice_.contiguity == (None, True)
    assert slice_.permutation is None
    assert slice_.iter_domain(34).size == 3
    (resize,) = slice_.exprs
    assert (resize.kind, resize.op, resize.inputs, resize.outputs) == ("resize", "Resize", (34,), (35,))
    assert resize.attributes == {"left": -2, "right": 0}
    assert permute.permutation == (1, 0, 2)
    assert permute.contiguity == (True, False, True)
    assert (permute.allocation, permute.alternate_loop, permute.exprs) == (None, None, ())
    assert TensorTransforms.model_validate_json(slice_.model_dump_json()) == slice_


@pytest.mark.parametrize(
    ("text", "root", "logical", "loop"),
    [
        ("T0_g[ iS0{8}, iS1{4} ]\n root domain : (iS0{8},iS1{4})\n contiguity: t t", None, (0, 1), (0, 1)),
        ("T0_g[ iS0{8} ]\n root domain : (iS0{8})\n contiguity: t\n leaf domain : (iS0{8})", None, (0,), (0,)),
        (
            "T1_l[ iS3{2}, iS4{4} ]\n root domain : (iS2{8}rf)\n allocation domain : (iS2{8}rf)\n"
            "  Split: iS2{8}rf by factor 4 -> iS3{2}, iS4{4}\n rfactor domain : (iS3{2}, iS4{4})\n contiguity: t t\n"
            " leaf domain : (iS3{2}, iS4{4})",
            (2,), (3, 4), (3, 4),
        ),
        ("T0_g[ iS0{8} ]\n rfactor domain : (iS0{8})\n contiguity: t\n leaf domain : (iS0{8})", None, (0,), (0,)),
        ("T0_g[ iS0{8} ]\n logical domain : (iS0{8})\n contiguity: t\n loop domain : (iS0{8})", None, (0,), (0,)),
        ("T0_g_float[]\n  logical domain: ()\n  contiguity: \n  loop domain: ()", None, (), ()),
        ("T0_g_float[]\n  logical domain: ()\n  contiguity:\n  loop domain: ()", None, (), ()),
    ],
)  # fmt: skip
def test_earlier_spellings(text: str, root: object, logical: object, loop: object) -> None:
    (read,) = parse(text)
    assert (read.root, read.logical, read.loop) == (root, logical, loop)
    assert {step.kind for step in read.exprs} <= {"split"}


SPLIT = "iS1{8} by factor 4 -> iS2{2}, iS3{4}"
TWO = "iS1{8} , iS2{8} -> iS3{8} , iS4{8}"
RAGGED = "iS3Ragged{extents=T5_g_int64_t[iS9{4}]}"
PARTITION = f"iS1{{8}} by extents T5_g_int64_t[iS9{{4}}] -> component: iS2{{4}}, ragged: {RAGGED}"


@pytest.mark.parametrize(
    ("op", "step", "kind", "inputs", "outputs", "attributes"),
    [
        ("Split", SPLIT, "split", (1,), (2, 3), {"factor": 4}),
        ("Outer split", SPLIT, "split", (1,), (2, 3), {"factor": 4}),
        ("Split", "iS1{8} by factor i4 -> iS2{( ceilDiv(8, i4) )}, iS3{i4}", "split", (1,), (2, 3), {"factor": "i4"}),
        ("Split", f"{SPLIT}, start offset: 1", "split", (1,), (2, 3), {"factor": 4, "start offset": 1}),
        ("Split", f"{SPLIT}, stop offset: i2", "split", (1,), (2, 3), {"factor": 4, "stop offset": "i2"}),
        ("Merge", "iS1{( i0 + 2 )} and iS2{2} -> iS3{( ( i0 + 2 ) * 2 )}", "merge", (1, 2), (3,), {}),
        ("Resize", "iS1{8} by -2 and 0 -> iS2{6}rf", "resize", (1,), (2,), {"left": -2, "right": 0}),
        ("Resize", "iS1{8} by ( 2 + 1 ) and ( -i4 ) -> iS2{i5}", "resize", (1,), (2,), {"left": 3, "right": "( -i4 )"}),
        ("NoSwizzle(2D)", TWO, "swizzle", (1, 2), (3, 4), {}),
        ("Xor(2D)", TWO, "swizzle", (1, 2), (3, 4), {}),
        ("CyclicShift(2D)", TWO, "swizzle", (1, 2), (3, 4), {}),
        ("ZShape(2D)", TWO, "swizzle", (1, 2), (3, 4), {}),
        ("Transpose(2D)", TWO, "swizzle", (1, 2), (3, 4), {}),
        ("Scatter(2D)", TWO, "swizzle", (1, 2), (3, 4), {}),
        ("Partition", PARTITION, "partition", (1,), (2, 3), {"extents": "T5"}),
        ("Combine", f"component: iS2{{4}} + ragged: {RAGGED} -> iS4{{( 2 + 2 )}}", "combine", (2, 3), (4,), {}),
        ("Fold", "iS1{8} -> iS2{8}", "unknown", (), (), {}),
    ],
)
def test_steps(
    op: str, step: str, kind: str, inputs: tuple[int, ...], outputs: tuple[int, ...], attributes: dict[str, object]
) -> None:
    check(f"{op}: {step}", kind, op, inputs, outputs, attributes)


def test_steps_without_a_label() -> None:
    line = "iS2{8} = Swizzle1D(iS1{8}, parallelType=deviceIdx.x)"
    check(line, "swizzle", "Swizzle1D", (1,), (2,), {"parallel_type": "deviceIdx.x"})
    check("no step at all", "unknown", "no step at all", (), (), {})


def check(
    line: str, kind: str, op: str, inputs: tuple[int, ...], outputs: tuple[int, ...], attributes: dict[str, object]
) -> None:
    (read,) = parse(f"T0_l_float[iS0{{8}}]\n  logical domain: (iS0{{8}})\n  contiguity: t\n    {line}\n    {line}")
    (step,) = read.exprs
    assert (step.kind, step.op, step.inputs, step.outputs) == (kind, op, inputs, outputs)
    assert step.attributes == attributes
    assert step.text == line
    assert {dim.number for dim in read.ids} == {0, *inputs, *outputs}


@pytest.mark.parametrize(
    "text",
    [
        "  logical domain: (iS0{8})",
        "something else\n  logical domain: (iS0{8})",
        "T0_l_float[iS0{8}]\n  contiguity: t",
        "T0_l_float[iS0{8}]\n  logical domain: (iS0{8)",
        "T0_l_float[iS0{8}]\n  logical domain: (iS0{8})\n  Split: iS0{8} by factor 4",
        "T0_l_float[iS0{8}]\n  logical domain: (iS0{8})\n  Merge: iS0{8} and -> iS1{8}",
    ],
)
def test_a_damaged_block_is_an_error(text: str) -> None:
    with pytest.raises(UnbalancedError):
        parse(text)


words = st.sampled_from(
    (
        "T0_l[ ]|iS0{8}|iS1{( 2 + 3 )}|bS2{1 ex 2}|  |\n|root domain: (|logical domain : (|)|, |contiguity: t f n"
        "|Split: |Merge: |Resize: | by factor | and | -> | = Swizzle1D(| by "
    ).split("|")
)


@given(st.lists(words, max_size=20).map("".join))
def test_no_text_raises_anything_but_our_own_error(text: str) -> None:
    try:
        parse(f"T9_l[ ]\n  logical domain: ()\n  {text}")
    except SegscopeError:
        return
