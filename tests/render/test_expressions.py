from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segscope.checks import check
from segscope.dump import read
from segscope.model import SegmentedFusion
from segscope.render import palette
from segscope.render.dot import to_dot
from segscope.render.engine import draw
from segscope.render.selection import NODE_LIMIT
from segscope.render.view import View
from tests.checks.handmade import fusion
from tests.conftest import need_program
from tests.dump.generate import Generated, generated

from .conftest import real_fusion
from .hostile import TEXTS, fusion_of
from .test_dot import CASES, DUMPS, GOLDEN

EXPRESSIONS = View(level="expressions")


def test_golden_text(july_2024: SegmentedFusion) -> None:
    expected = (GOLDEN / "llama-2-13b_july-2024_expressions.dot").read_text("utf-8")
    assert to_dot(july_2024, view=EXPRESSIONS) == expected


def test_golden_text_with_findings() -> None:
    backward = real_fusion("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward", 12)
    expected = (GOLDEN / "gpt_backward_expressions_findings.dot").read_text("utf-8")
    assert to_dot(backward, view=View(level="expressions", findings=tuple(check(backward)))) == expected


@pytest.mark.parametrize("path", DUMPS, ids=[p.stem for p in DUMPS])
def test_every_operation_on_tensors_is_a_node_in_its_cluster(path: Path) -> None:
    for real in read(path).fusions:
        text = to_dot(real, view=EXPRESSIONS)
        for group in real.groups:
            cluster = text.partition(f"\tsubgraph cluster_g{group.index} {{\n")[2].partition("\n\t}")[0]
            drawn = re.findall(rf"^\t\te{group.index}_(\d+) \[", cluster, re.MULTILINE)
            assert [int(n) for n in drawn] == [e.id for e in real.exprs_of(group) if not e.is_scalar]
            assert re.search(rf"^\t\tg{group.index} \[label=\"{group.label} · ", cluster, re.MULTILINE)


@pytest.mark.parametrize("path", DUMPS, ids=[p.stem for p in DUMPS])
def test_every_tensor_that_crosses_is_drawn_once(path: Path) -> None:
    for real in read(path).fusions:
        text = to_dot(real, view=EXPRESSIONS)
        crossing = {(edge.source, edge.value) for edge in real.edges}
        labels = re.findall(r'^\tcut\d+ \[label="?([^"\\ ]+)', text, re.MULTILINE)
        assert sorted(labels) == sorted(value for _, value in crossing)


def test_slices_pads_cats_and_casts_have_shapes_of_their_own(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024, view=EXPRESSIONS)
    for node, shape in (
        ("e2_36", "invtrapezium"),
        ("e9_100", "trapezium"),
        ("e9_101", "hexagon"),
        ("e1_62", "ellipse"),
    ):
        (statement,) = statements(text, node)
        assert f"shape={shape} " in statement
    (plain,) = statements(text, "e1_64")
    assert "shape=box " in plain
    assert 'label="mul\\nT23"' in plain


def test_cuts_run_from_what_makes_a_tensor_to_all_that_read_it(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024, view=EXPRESSIONS)
    (node,) = re.findall(r'^\t(cut\d+) \[label="T8\\n', text, re.MULTILINE)
    assert re.findall(rf"^\t(\S+) -> {node} ", text, re.MULTILINE) == ["e1_27"]
    assert sorted(re.findall(rf"^\t{node} -> (\S+) ", text, re.MULTILINE)) == ["e2_36", "e3_144", "e7_45"]


def test_scalar_expressions_are_counted_and_listed(july_2024: SegmentedFusion) -> None:
    (heading,) = statements(to_dot(july_2024, view=EXPRESSIONS), "g2")
    assert "\\n4 scalar expressions" in heading
    assert "i289" in heading.split("tooltip=", 1)[1]


def test_the_legend_has_what_occurs(july_2024: SegmentedFusion) -> None:
    assert legend(to_dot(july_2024, view=EXPRESSIONS)) == [
        "pointwise: launches a kernel",
        "no_op: no kernel, metadata only",
        "slice",
        "pad",
        "cat",
        "cast",
        "cut: crosses between groups",
    ]
    alone = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"))
    assert legend(to_dot(alone, view=EXPRESSIONS)) == ["pointwise: launches a kernel"]


def test_the_legend_is_above_what_reads_nothing_that_is_drawn(july_2024: SegmentedFusion) -> None:
    part = draw(to_dot(july_2024, view=View(level="expressions", focus=(9,))))
    tops = {
        title: float(re.findall(r' y="(-[\d.]+)"', shape)[0])
        for title, shape in re.findall(r"<title>(legend0|g\d+)</title>(.*?)</g>", part.data.decode(), re.DOTALL)
    }
    assert len(tops) == 7
    assert min(tops, key=lambda node: tops[node]) == "legend0"


def test_collapsed_metadata_groups_are_boxes(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024, view=View(level="expressions", collapse=True))
    assert re.findall(r"subgraph cluster_g(\d+)", text) == ["1", "4", "7", "8", "9", "10"]
    (box,) = statements(text, "g2")
    assert 'label="#2 #3 · no_op\\n2 slice"' in box
    (node,) = re.findall(r'^\t(cut\d+) \[label="T45\\n', text, re.MULTILINE)
    assert list(statements(text, f"g2 -> {node}"))
    arrows = re.findall(r"^\t+(\w+ -> \w+) \[", text, re.MULTILINE)
    assert len(arrows) == len(set(arrows))


def test_findings_are_marked(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024, view=View(level="expressions", findings=tuple(check(july_2024))))
    (node,) = re.findall(r'^\t(cut\d+) \[label="T22\\n', text, re.MULTILINE)
    for start in ("e1_63", node, f"e1_63 -> {node}", f"{node} -> e4_103"):
        (statement,) = statements(text, start)
        assert palette.FINDING_LINE in statement
    (fine,) = statements(text, "e1_62")
    assert palette.FINDING_LINE not in fine
    assert re.search(rf'subgraph cluster_g4 {{\n\t\tgraph \[color="{palette.FINDING_LINE}"', text)


def test_above_the_limit_groups_are_drawn_and_it_is_said() -> None:
    statements_of_group = "; ".join(f"T{n + 1} = exp(T{n})" for n in range(NODE_LIMIT))
    large = fusion(["T0"], [f"T{NODE_LIMIT}"], ("pointwise", statements_of_group))
    text = to_dot(large, view=EXPRESSIONS)
    note = "\\ngroups only: expressions would be 302 nodes, more than 300"
    assert note in text
    assert text.replace(note, "") == to_dot(large)


def test_a_fusion_without_groups_is_drawn(engine: str) -> None:
    empty = fusion([], [])
    assert b"0 groups" in draw(to_dot(empty, view=EXPRESSIONS)).data


@pytest.mark.parametrize(("golden", "dump", "number"), CASES, ids=[case[0] for case in CASES])
def test_real_fusions_are_drawn(engine: str, golden: str, dump: str, number: int) -> None:
    real = real_fusion(dump, number)
    svg = draw(to_dot(real, view=View(level="expressions", findings=tuple(check(real))))).data
    assert svg.count(b'class="cluster"') == len(real.groups)


@pytest.mark.parametrize("text", TEXTS, ids=[ascii(text)[:24] for text in TEXTS])
@pytest.mark.parametrize("level", ["groups", "expressions"])
def test_hostile_texts_do_no_harm(text: str, level: str, engine: str) -> None:
    view = View(level=level)  # type: ignore[arg-type]
    svg = draw(to_dot(fusion_of(text), title=text, view=view)).data
    assert b"<script" not in svg
    assert b"<img" not in svg
    assert svg.count(b'class="node"') >= 6


VIEWS = st.builds(View, level=st.sampled_from(["groups", "expressions"]), collapse=st.booleans())


@settings(max_examples=40)
@given(generated(), VIEWS)
def test_what_is_drawn_of_generated_fusions_is_dot(made: Generated, view: View) -> None:
    text = to_dot(made.fusion, view=view)
    assert_is_dot(text)
    again = SegmentedFusion.model_validate_json(made.fusion.model_dump_json())
    assert to_dot(again, view=view) == text


@settings(max_examples=40)
@given(st.text(min_size=1, max_size=40), VIEWS)
def test_whatever_the_texts_it_is_dot(text: str, view: View) -> None:
    assert_is_dot(to_dot(fusion_of(text), title=text, view=view))


def assert_is_dot(text: str) -> None:
    """Have it parsed by Graphviz, which does no layout for this format."""
    done = subprocess.run([need_program("dot"), "-Tcanon"], input=text.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def legend(text: str) -> list[str]:
    found = re.findall(r'^\t\tlegend\d+ \[label=(?:"([^"]*)"|(\w+))', text, re.MULTILINE)
    return [quoted or bare for quoted, bare in found]


def statements(text: str, start: str) -> Iterator[str]:
    """The statements for a node or an edge; labels are written on one line."""
    yield from re.findall(rf"^\t+{start} \[.*\]$", text, re.MULTILINE)
