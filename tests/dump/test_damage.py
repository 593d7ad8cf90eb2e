"""Dumps that are cut off, mixed with other text, or not there."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segscope.dump import parse, read
from segscope.dump.tally import tally
from segscope.errors import NoDumpError, SegscopeError
from tests.conftest import FIXTURES
from tests.dump.mutate import mutated

JULY = (FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt").read_text()
TODAY = (FIXTURES / "h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt").read_text()


NOISE = [
    "", "}", "g{", "g{(resize)", "(7)", "(x)", "e{", "e{ a -> b", "groups:", "edges:", "T1_g_float[", "T1_g[iS0{]}",
    "group id: ", "group id: x", "inputs:", "i1 = ", " = ", "{{{{", "))))", "\x00\ufffd", "PASSED tests/test_x.py::y",
    "Segmented_Fusion Dump: -- fusion segments:", "} //Segmented_Fusion", "T5_l[ zS1{2} ]\n   = relu(T4_l[ iS1{2} ]);",
    "T6_g_float[iS1{8}]\n   = slice( T5_g_float[iS1{8}] )", "T6_g_float[iS1{8}]\n   = pad( T5_g_float[iS1{8}] )",
]  # fmt: skip


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize("text", ["", "hello\n", TODAY[: TODAY.index("Segmented_Fusion Dump: -- fusion segments")]])
def test_no_dump_says_what_was_looked_for(text: str) -> None:
    with pytest.raises(NoDumpError, match=r"x\.txt: no segmented fusion found .*-- fusion segments:") as caught:
        parse(text, "x.txt")
    assert "\n" not in str(caught.value)


def test_a_dump_cut_off_gives_what_is_there() -> None:
    whole = parse(TODAY).fusion
    lines = TODAY.split("\n")
    cut = parse("\n".join(lines[:-100]), "x.txt")
    fusion = cut.fusion
    assert not cut.complete
    assert not fusion.complete
    assert 0 < len(fusion.groups) < len(whole.groups)
    assert fusion.groups[:-1] == whole.groups[: len(fusion.groups) - 1]
    assert [damage.line for damage in cut.report.damage] == [len(lines) - 100]
    assert cut.report.damage[0].reason.endswith(f"{len(fusion.groups)} of its 6 groups are there")
    assert fusion.edges == tuple(e for e in whole.edges if max(e.source, e.target) < len(fusion.groups))


def test_a_dump_cut_off_by_another_gives_both() -> None:
    start = TODAY.index("Segmented_Fusion Dump: -- Re-written")
    cut = TODAY[: TODAY.index("group id: 3")]
    capture = parse(cut + "\n" + TODAY[start:])
    first, second = capture.fusions
    assert (first.complete, second.complete) == (False, True)
    assert second.groups == parse(TODAY).fusion.groups


def test_a_dump_cut_off_before_its_segments_is_none_and_is_told() -> None:
    start = TODAY.index("Segmented_Fusion Dump: -- Re-written")
    text = TODAY + TODAY[start : start + 2000]
    capture = parse(text)
    assert capture.fusion.complete
    assert not capture.complete
    (damage,) = capture.report.damage
    assert (damage.line, damage.reason) == (
        TODAY.count("\n") + 1,
        "the source ends before the segments of this dump",
    )
    assert damage.text.endswith("Re-written complete fusion:{")
    with pytest.raises(SegscopeError, match="the source ends before the segments"):
        parse(text, strict=True)
    (damage,) = parse(TODAY[start : start + 2000] + "\n" + TODAY).report.damage
    assert damage.reason == "another dump begins before the segments of the last one"


def test_other_text_around_does_not_matter() -> None:
    noise = "===== test session starts =====\nT0_g_float[iS0{1}] looks like a tensor\ngroups:\n"
    capture = parse(noise + TODAY + noise + JULY + noise)
    assert [fusion.groups for fusion in capture.fusions] == [parse(TODAY).fusion.groups, parse(JULY).fusion.groups]
    assert [fusion.index for fusion in capture.fusions] == [0, 1]
    assert capture.complete


def test_windows_line_ends_do_not_matter() -> None:
    assert parse(TODAY.replace("\n", "\r\n")).fusion.groups == parse(TODAY).fusion.groups


def test_a_foreign_line_among_the_edges_is_reported() -> None:
    edge = "  e{ "
    text = TODAY.replace(edge, "watch out!\n" + edge, 1)
    capture = parse(text)
    assert [(d.line, d.reason) for d in capture.report.damage] == [
        (line_of(text, "watch out!"), "not a line of a dump")
    ]
    assert not capture.complete
    assert capture.fusion.edges == parse(TODAY).fusion.edges


def test_an_edge_to_nowhere_is_reported() -> None:
    text = TODAY.replace("-> expr_eval{93}(", "-> expr_eval{94}(", 1)
    capture = parse(text)
    said = "an edge over T50 between groups that do not list it, or are not there"
    assert [d.reason for d in capture.report.damage] == [said]
    assert len(capture.fusion.edges) == len(parse(TODAY).fusion.edges) - 1


def test_a_group_line_that_lies_is_reported() -> None:
    text = TODAY.replace("\n  expr_eval{93}\n", "\n  expr_eval{93, 1000}\n", 1)
    reasons = [d.reason for d in parse(text).report.damage]
    assert "the line under groups: and the block have different expressions" in reasons


def test_an_unbalanced_statement_stays_as_text() -> None:
    start = JULY.index("group details:")
    text = JULY[:start] + JULY[start:].replace("   = -T13_l[ iS60{2}, iS61{40}", "   = -T13_l[ iS60{2}, iS61{40", 1)
    capture = parse(text)
    broken = next(expr for expr in capture.fusion.exprs if "iS61{40," in expr.text)
    assert broken.kind == "unknown"
    assert [damage.line for damage in capture.report.damage] == [line_of(text, "iS61{40,") - 1]


def test_equal_groups_are_told_apart_by_their_values() -> None:
    """Two groups may have the same text under groups:; the value of an edge says which one is meant."""
    text = """Segmented_Fusion Dump: -- fusion segments:
Segmented_Fusion{
groups:
  pointwise{1}
  pointwise{2}
  pointwise{2}
edges:
  e{ pointwise{1} -> pointwise{2}(T1_g_float[iS1{8}]) }
  e{ pointwise{1} -> pointwise{2}(T2_g_float[iS2{8}]) }

group details:
g{(pointwise)
group id: 0
inputs:
  T0_g_float[iS0{8}] float
outputs:
  T1_g_float[iS1{8}] float
  T2_g_float[iS2{8}] float


T1_g_float[iS1{8}]
   = sin(T0_g_float[iS0{8}]);
(1)
}

g{(pointwise)
group id: 1
inputs:
  T2_g_float[iS2{8}] float
outputs:
  T3_g_float[iS3{8}] float


T3_g_float[iS3{8}]
   = cos(T2_g_float[iS2{8}]);
(2)
}

g{(pointwise)
group id: 2
inputs:
  T1_g_float[iS1{8}] float
outputs:
  T3_g_float[iS3{8}] float


T3_g_float[iS3{8}]
   = cos(T2_g_float[iS2{8}]);
(2)
}

} //Segmented_Fusion
"""
    fusion = parse(text).fusion
    assert [(edge.source, edge.target, edge.value) for edge in fusion.edges] == [(0, 2, "T1"), (0, 1, "T2")]


def test_a_fusion_of_one_group_has_no_edges() -> None:
    capture = read(FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt")
    alone = [fusion for fusion in capture.fusions if len(fusion.groups) == 1]
    assert alone
    assert all(fusion.edges == () for fusion in alone)


@settings(max_examples=300)
@given(data=st.data())
def test_a_mutated_dump_never_raises_anything_else(data: st.DataObject) -> None:
    text = mutated(data, [JULY, TODAY][data.draw(st.integers(0, 1))], NOISE, most=4)
    try:
        capture = parse(text)
    except SegscopeError:
        return
    assert sum(len(fusion.groups) for fusion in capture.fusions) <= text.count("g{")
    for fusion in capture.fusions:
        assert str(fusion)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SegscopeError, match=r"nowhere\.txt: No such file or directory"):
        read(tmp_path / "nowhere.txt")
    with pytest.raises(SegscopeError, match="Is a directory"):
        read(tmp_path)


def test_json_of_another_schema_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "capture.json"
    path.write_text('{"schema_version": 2}')
    with pytest.raises(
        SegscopeError, match=r"capture\.json: written by another segscope \(schema 2\); this one reads schema 1"
    ):
        read(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_is_read_as_it_was_written(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "capture.json"
    capture = parse(TODAY, "x")
    path.write_text(capture.model_dump_json(indent=1), encoding=encoding)
    assert read(path) == capture


def test_limits_are_clear_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segscope.dump.blocks.MOST_GROUPS", 5)
    with pytest.raises(SegscopeError, match=r"^line \d+: more than 5 groups in one fusion are not read$"):
        parse(TODAY)
    monkeypatch.setattr("segscope.dump.gather.MOST_STREAMS", 3)
    with pytest.raises(SegscopeError, match=r"^line 4: more than 3 ranks are not read$"):
        parse("".join(f"[rank{n}]: hello\n" for n in range(9)))


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with path.open("w") as file:
        file.write("x" * (9 << 20) + "\n" + TODAY)
    capture = read(path)
    assert [(place.line, place.reason) for place in capture.report.damage] == [(1, "line cut after 4194304 bytes")]
    assert capture.fusion.groups == parse(TODAY).fusion.groups


def test_a_capture_with_sorted_keys_is_one(tmp_path: Path) -> None:
    """As ``jq -S`` writes it: the dump, of more than a chunk, stands before the schema's version."""
    capture = parse(TODAY).model_copy(update={"dump": TODAY * 40})
    path = tmp_path / "sorted.json"
    path.write_text(json.dumps(capture.model_dump(mode="json"), sort_keys=True, indent=2))
    assert path.read_bytes().index(b'"schema_version"') > 1 << 20
    assert read(path) == capture
    assert tally(path) is None
