"""Every form that the dump has had, and each back to the bytes that nvFuser printed."""

import re
from pathlib import Path

import pytest

from segscope.dump import parse, read
from segscope.dump.eras import ERAS
from segscope.dump.write import segments_text
from segscope.model import SegmentedFusion
from tests.conftest import DUMPS, FIXTURES

WRITTEN = sorted(FIXTURES.glob("eras/*.txt"))
GOLDEN = {
    "E0": "eras/E0",
    "E1": "eras/E1",
    "E2": "history/null_0.2.0.dev20240316_Llama-2-13b-hf_definition",
    "E3": "null_0.2.8_llama2-13b_bookend0_forward",
    "E4": "history/null_0.2.9.dev20240808_Llama-2-13b-hf_definition",
    "E5": "eras/E5",
    "E6": "history/null_0.2.22.dev20241030_Llama-2-13b-hf_definition",
    "E7": "history/null_0.2.25.dev20250201_Llama-2-13b-hf_definition",
    "E8": "history/null_0.2.34.dev20251001_Llama-2-13b-hf_definition",
    "E9": "history/null_0.2.35.dev20260115_Llama-2-13b-hf_definition",
    "E10": "h200_0.2.36_Llama-2-13b-hf_bookend0_forward",
}


def printed(path: Path) -> list[str]:
    text = path.read_text()
    return re.findall(r"^Segmented_Fusion Dump: -- fusion segments:\n.*?^\} //Segmented_Fusion\n", text, re.M | re.S)


def test_every_era_has_a_dump() -> None:
    assert list(GOLDEN) == list(ERAS)


@pytest.mark.parametrize("era", GOLDEN)
def test_eras_are_told_apart(era: str) -> None:
    (fusion,) = read(FIXTURES / f"{GOLDEN[era]}.txt").fusions
    assert fusion.era == era


@pytest.mark.parametrize("path", [*DUMPS, *WRITTEN], ids=lambda path: path.stem)
def test_what_is_read_is_written_back_byte_for_byte(path: Path) -> None:
    assert [segments_text(fusion) for fusion in read(path).fusions] == printed(path)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_the_old_forms_say_the_same(path: Path) -> None:
    capture = read(path)
    assert capture.complete
    assert capture.report.unknown_operators == {}
    fusion = capture.fusion
    persistent = "inner_persistent" if path.stem == "E5" else "persistent"
    assert fusion.schedulers == {persistent: 1, "no_op": 1, "pointwise": 1, "transpose": 1}
    assert [expr.kind for expr in fusion.exprs] == ["set", "reshape", "reduction", "broadcast", "binary", "permute"]
    assert [(edge.source, edge.target, edge.value) for edge in fusion.edges] == [(0, 2, "T1"), (2, 3, "T4")]
    assert {group.id for group in fusion.groups} == ({None} if path.stem != "E5" else {0, 1, 2, 3})


@pytest.mark.parametrize("path", [*DUMPS[::5], *WRITTEN], ids=lambda path: path.stem)
def test_what_is_written_is_read_as_it_was(path: Path) -> None:
    """All but what stands around the segments: inputs, outputs, transforms, and the log."""

    def core(fusion: SegmentedFusion) -> object:
        return fusion.groups, fusion.edges, fusion.exprs, fusion.scalars, fusion.era

    for fusion in read(path).fusions:
        again = parse(segments_text(fusion)).fusion
        if fusion.era not in ("E3", "E10"):  # what tells these stands around the segments
            assert core(again) == core(fusion)
        assert (again.groups, again.edges, again.exprs) == (fusion.groups, fusion.edges, fusion.exprs)
