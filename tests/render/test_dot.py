from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from segscope.checks import check
from segscope.dump import read
from segscope.model import Edge, Expr, Group, SegmentedFusion
from segscope.render import palette
from segscope.render.dot import to_dot
from segscope.render.engine import draw
from segscope.render.labels import LINE_LIMIT, cut, printable
from segscope.render.mermaid import to_mermaid
from segscope.render.sheet import LARGE
from segscope.render.view import View
from tests.checks.handmade import fusion

from .conftest import FIXTURES, real_fusion
from .hostile import TEXTS

GOLDEN = Path(__file__).parent / "golden"
CASES = [
    ("llama-2-13b_july-2024", "null_0.2.8_llama2-13b_bookend0_forward", 0),
    ("llama-2-13b_today", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward", 0),
    ("tiny-llama_july-2024", "null_0.2.8_tinyllama_bookend0_forward", 0),
    ("phi-2_backward_resize-off", "h200_0.2.36_phi-2_bookend0_resize-off_forward+backward", 1),
    ("gpt_backward", "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward", 12),
]
DUMPS = sorted(p for p in FIXTURES.rglob("*.txt") if "Segmented_Fusion" in p.read_text("utf-8", "replace"))


@pytest.mark.parametrize(("golden", "dump", "number"), CASES, ids=[case[0] for case in CASES])
def test_golden_text(golden: str, dump: str, number: int) -> None:
    expected = (GOLDEN / f"{golden}.dot").read_text("utf-8")
    assert to_dot(real_fusion(dump, number)) == expected, (
        f"if the new picture is better: segscope render fixtures/{dump}.txt --fusion {number} -o GOLDEN/{golden}.dot"
    )


@pytest.mark.parametrize("path", DUMPS, ids=[p.stem for p in DUMPS])
def test_every_group_and_cut_is_drawn(path: Path) -> None:
    for real in read(path).fusions:
        text = to_dot(real)
        for group in real.groups:
            (node,) = statements(text, f"g{group.index}")
            kernel = real.launches_kernel(group)
            assert f'label="{group.label} · {group.scheduler}{" · kernel" if kernel else ""}\\n' in node
            assert ('style="filled,solid"' if kernel else 'style="filled,dashed"') in node
        through_labels = re.findall(r"^\tg(\d+) -> cut_\1_(\d+) ", text, re.MULTILINE)
        assert set(re.findall(r"^\tcut_(\d+)_(\d+) -> g\2 ", text, re.MULTILINE)) == set(through_labels)
        side_by_side = re.findall(r"^\tg(\d+) -> g(\d+) ", text, re.MULTILINE)
        drawn = [(int(a), int(b)) for a, b in (*through_labels, *side_by_side)]
        assert sorted(drawn) == sorted((cut.source, cut.target) for cut in real.cuts)


def test_a_title_goes_first(july_2024: SegmentedFusion) -> None:
    assert 'label="nvfuser-0.2.8 · fusion 0: 11 groups' in to_dot(july_2024, "nvfuser-0.2.8")


def test_inputs_and_outputs_are_joined_to_their_groups(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024)
    for edge in ("input0 -> g0", "input1 -> g1", "input2 -> g9", "g0 -> output0", "g10 -> output1", "g9 -> output2"):
        assert list(statements(text, edge))


def test_a_long_title_leaves_the_counts(july_2024: SegmentedFusion) -> None:
    title = "nvfuser-0.2.8 Llama-2-13b-hf both float32 NVFUSER_DISABLE=resize_scheduler"
    assert f"{title}\\n{july_2024}" in to_dot(july_2024, title)
    assert f"{title} · {july_2024}" in to_mermaid(july_2024, title)
    assert f"short · {july_2024}" in to_dot(july_2024, "short")


def test_the_legend_has_what_occurs(july_2024: SegmentedFusion) -> None:
    entries = [re.search(r'label="([^"]*)"', s).group(1) for s in statements(to_dot(july_2024), r"\tlegend\d+")]  # type: ignore[union-attr]
    assert entries == ["pointwise: launches a kernel", "no_op: no kernel, metadata only"]


def test_a_box_says_what_it_reads_and_writes(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024)
    (kernel,) = statements(text, "g9")
    assert "\\nreads 252.7 MB · writes 86 MB\\n" in kernel
    (metadata,) = statements(text, "g0")
    assert "\\nmoves no data\\n" in metadata


def test_light_cuts_stand_between_boxes_of_one_height(july_2024: SegmentedFusion) -> None:
    """The shared sines and cosines: without them in the way, the kernels for Q and those for K are two columns."""
    text = to_dot(july_2024)
    side_by_side = re.findall(r"^\t(g\d+ -> g\d+) \[(.*)\]$", text, re.MULTILINE)
    assert [pair for pair, _ in side_by_side] == ["g1 -> g4", "g9 -> g10"]
    assert all("constraint=false" in attributes and "MB (expanded)" in attributes for _, attributes in side_by_side)


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("view", [View(), View(collapse=True)], ids=["whole", "collapsed"])
def test_an_arrow_from_side_to_side_runs_behind_its_text(engine: str, view: View) -> None:
    today = real_fusion("h200_0.2.36_Llama-2-13b-hf_bookend0_forward")
    root = ET.fromstring(draw(to_dot(today, view=view)).data)
    (edge,) = [each for each in root.iter(f"{SVG}g") if each.get("class") == "edge" and list(each.iter(f"{SVG}text"))]
    line, ground, *texts = [
        each
        for each in edge.iter()
        if each.tag in (f"{SVG}path", f"{SVG}text") or each.get("fill") == palette.BACKGROUND
    ]
    assert (line.tag, ground.tag) == (f"{SVG}path", f"{SVG}polygon")
    corners = [tuple(map(float, point.split(","))) for point in ground.get("points", "").split()]
    (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*corners, strict=True))
    assert len(texts) == 2
    assert all(left <= float(t.get("x", "")) <= right and top <= float(t.get("y", "")) <= bottom for t in texts)


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_hostile_text_beside_an_arrow_is_text(text: str) -> None:
    today = real_fusion("h200_0.2.36_Llama-2-13b-hf_bookend0_forward")
    tensors = today.tensors | {"T25": today.tensors["T25"].model_copy(update={"dtype": text})}
    dot = to_dot(today.model_copy(update={"tensors": tensors}))
    assert "constraint=false" in dot
    shown = [element.text or "" for element in ET.fromstring(draw(dot).data).iter(f"{SVG}text")]
    (line,) = (words for words in shown if words.startswith("T25 "))
    assert line.replace("\N{NO-BREAK SPACE}", " ") == cut(f"T25 {printable(text)} [2, 40, 4096, 128]", LINE_LIMIT)


def test_july_2024_has_three_kernels_for_q_left_of_three_for_k(july_2024: SegmentedFusion, engine: str) -> None:
    for_q, for_k = (["g1", "g7", "g10"], ["g4", "g8", "g9"])
    places = node_places(draw(to_dot(july_2024)).data)
    assert max(places[name] for name in for_q) < min(places[name] for name in for_k)
    places = node_places(draw(to_dot(july_2024, view=View(level="expressions"))).data)
    assert max(places[name] for name in for_q) < min(places[name] for name in for_k)


def test_an_input_that_many_groups_read_is_drawn_beside_each() -> None:
    few = fusion_of_readers(3)
    assert len(list(statements(to_dot(few), "input0"))) == 1
    many = to_dot(fusion_of_readers(4))
    assert not list(statements(many, "input0"))
    assert [len(list(statements(many, f"input0_g{n} -> g{n}"))) for n in range(4)] == [1] * 4


def test_a_value_that_many_groups_read_is_named_beside_each() -> None:
    readers = [("pointwise", f"T{n} = exp(T1)") for n in range(2, 10)]
    some = to_dot(fusion(["T0"], ["T9"], ("pointwise", "T1 = exp(T0)"), *readers[:7]))
    assert len(re.findall(r"^\tcut_0_\d ->", some, re.MULTILINE)) == 7
    many = to_dot(fusion(["T0"], ["T9"], ("pointwise", "T1 = exp(T0)"), *readers))
    assert not re.findall(r"^\tcut_", many, re.MULTILINE)
    assert "to 8 boxes" in next(statements(many, "spread0"))
    for n in range(1, 9):
        assert 'label="T1 of g0"' in next(statements(many, f"spread0_g{n}"))
        assert list(statements(many, f"spread0_g{n} -> g{n}"))


def test_the_cuts_of_a_large_picture_have_no_labels() -> None:
    text = to_dot(chain(LARGE + 1))
    assert f"more than {LARGE} boxes" in text
    assert not re.findall(r"^\tcut_", text, re.MULTILINE)
    assert 'edgetooltip="g4 to g5\\nT5' in next(statements(text, "g4 -> g5"))
    assert f"more than {LARGE} boxes" not in to_dot(chain(LARGE))


def test_a_large_fusion_is_drawn(engine: str) -> None:
    svg = draw(to_dot(chain(LARGE + 1))).data
    assert svg.count(b'class="node"') > LARGE


def test_findings_are_marked(july_2024: SegmentedFusion) -> None:
    view = View(findings=tuple(check(july_2024)))
    text = to_dot(july_2024, view=view)
    for start in ("g1", "g4", "g9", "g10", "g1 -> g4", "g9 -> g10"):
        (statement,) = statements(text, start)
        assert "warning: fp32-crossing" in statement
        assert palette.FINDING_LINE in statement
    for start in ("g0", "g7", "cut_0_1"):
        (statement,) = statements(text, start)
        assert palette.FINDING_LINE not in statement
    notes = View(findings=tuple(check(july_2024, select=["resize-boundary"])))
    assert to_dot(july_2024, view=notes) == to_dot(july_2024)


def test_findings_on_another_fusion_are_not_marked(july_2024: SegmentedFusion) -> None:
    findings = tuple(f.model_copy(update={"fusion": 1}) for f in check(july_2024))
    assert to_dot(july_2024, view=View(findings=findings)) == to_dot(july_2024)


def test_a_cycle_is_marked_along_its_path(engine: str) -> None:
    """g0 needs T3 of g1 over an edge, and g1 needs T1 of g0, which no edge carries."""
    groups = [("pointwise", "T1 = exp(T0); T2 = +(T1, T3)"), ("pointwise", "T3 = exp(T1)")]
    cyclic = fusion(["T0"], ["T2"], *groups)
    cyclic = cyclic.model_copy(update={"edges": tuple(edge for edge in cyclic.edges if edge.source == 1)})
    for level in ("groups", "expressions"):
        text = to_dot(cyclic, view=View(level=level, findings=tuple(check(cyclic, select=["cycle"]))))
        (step,) = statements(text, "g0 -> g1")
        assert "label=T1 " in step
        assert palette.FINDING_LINE in step
        assert "style=dashed" in step
        assert "error: cycle" in text
        (back,) = statements(text, "cut_1_0 -> g0" if level == "groups" else r"cut0 -> e0_\d+")
        assert palette.FINDING_LINE in back
        draw(text)


def test_a_long_cut_is_shortened_and_whole_in_its_tooltip() -> None:
    names = tuple(f"T{n}" for n in range(1, 8))
    text = to_dot(two_groups(names))
    (node,) = statements(text, "cut_0_1")
    assert 'label="T1\\nT2\\nT3\\n+ 4 more"' in node
    assert "T7" in node.split("tooltip=", 1)[1]


def test_a_group_of_many_operations_is_shortened() -> None:
    (node,) = statements(to_dot(two_groups(("T1",), operations=60)), "g0")
    label, tooltip = node.split("tooltip=", 1)
    assert label.count("\\n") == 6
    assert "…" in label
    assert "op59" in tooltip


def test_names_and_operators_are_never_markup(engine: str) -> None:
    nasty = '<b>:"\\N|{x'
    named = two_groups((nasty,), operator=nasty)
    assert draw(to_dot(named, title=nasty)).data.count(b"&lt;b&gt;:&quot;\\N|{x") >= 4


@pytest.mark.parametrize(("golden", "dump", "number"), CASES, ids=[case[0] for case in CASES])
def test_real_fusions_are_drawn(engine: str, golden: str, dump: str, number: int) -> None:
    real = real_fusion(dump, number)
    svg = draw(to_dot(real)).data.decode()
    for group in real.groups:
        assert f">{group.label} · {group.scheduler}" in svg.replace("&#183;", "·").replace("&#45;", "-")


def test_a_fusion_without_groups_is_drawn(engine: str) -> None:
    empty = SegmentedFusion(
        index=0,
        era="E10",
        inputs=(),
        outputs=(),
        groups=(),
        edges=(),
        exprs=(),
        tensors={},
        complete=False,
        first_line=1,
    )
    assert b"dump incomplete" in draw(to_dot(empty)).data


def statements(text: str, start: str) -> Iterator[str]:
    """The statements for a node or an edge; labels are written on one line."""
    yield from re.findall(rf"^\t{start} \[.*\]$", text, re.MULTILINE)


def node_places(svg: bytes) -> dict[str, float]:
    """How far to the right each node is, by its name."""
    nodes = [e for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g") if e.get("class") == "node"]
    texts = {str(node.findtext("{*}title")): node.find(".//{*}text") for node in nodes}
    return {name: float(text.get("x", "")) for name, text in texts.items() if text is not None}


def fusion_of_readers(count: int) -> SegmentedFusion:
    return fusion(["T0"], ["T1"], *(("pointwise", f"T{n + 1} = exp(T0)") for n in range(count)))


def chain(groups: int) -> SegmentedFusion:
    return fusion(["T0"], [f"T{groups}"], *(("pointwise", f"T{n + 1} = exp(T{n})") for n in range(groups)))


def two_groups(crossing: tuple[str, ...], operator: str | None = None, operations: int = 1) -> SegmentedFusion:
    exprs = tuple(
        Expr(
            id=n,
            kind="unknown",
            op=operator or f"op{n}",
            outputs=(f"T{n + 1}",),
            inputs=("T0",),
            attributes={},
            text="",
        )
        for n in range(operations)
    )
    first = Group(
        index=0,
        id=0,
        scheduler="pointwise",
        inputs=("T0",),
        outputs=crossing,
        expr_ids=tuple(e.id for e in exprs),
    )
    second = Group(index=1, id=1, scheduler="of_tomorrow", inputs=crossing, outputs=("T99",), expr_ids=())
    return SegmentedFusion(
        index=0,
        era="E10",
        inputs=("T0",),
        outputs=("T99",),
        groups=(first, second),
        edges=tuple(Edge(source=0, target=1, value=name) for name in crossing),
        exprs=exprs,
        tensors={},
        first_line=1,
    )
