from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.model import Edge, Expr, Group, SegmentedFusion
from segscope.render.dot import to_dot
from segscope.render.engine import draw

from .conftest import FIXTURES, real_fusion

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
    for fusion in read(path).fusions:
        text = to_dot(fusion)
        for group in fusion.groups:
            (node,) = statements(text, f"g{group.index}")
            kernel = fusion.launches_kernel(group)
            assert f'label="{group.label} · {group.scheduler}{" · kernel" if kernel else ""}\\n' in node
            assert ('style="filled,solid"' if kernel else 'style="filled,dashed"') in node
        drawn = set(re.findall(r"^\t(g\d+) -> cut_\d+_\d+ ", text, re.MULTILINE))
        assert drawn == {f"g{edge.source}" for edge in fusion.edges}
        pairs = {(edge.source, edge.target) for edge in fusion.edges}
        assert set(re.findall(r"^\tcut_(\d+)_(\d+) \[", text, re.MULTILINE)) == {(str(a), str(b)) for a, b in pairs}


def test_the_model_alone_decides_the_text(july_2024: SegmentedFusion) -> None:
    again = SegmentedFusion.model_validate_json(july_2024.model_dump_json())
    assert to_dot(again) == to_dot(july_2024)


def test_a_title_goes_first(july_2024: SegmentedFusion) -> None:
    assert 'label="nvfuser-0.2.8 · fusion 0: 11 groups' in to_dot(july_2024, "nvfuser-0.2.8")


def test_inputs_and_outputs_are_joined_to_their_groups(july_2024: SegmentedFusion) -> None:
    text = to_dot(july_2024)
    for edge in ("input0 -> g0", "input1 -> g1", "input2 -> g9", "g0 -> output0", "g10 -> output1", "g9 -> output2"):
        assert list(statements(text, edge))


def test_the_legend_has_what_occurs(july_2024: SegmentedFusion) -> None:
    entries = [re.search(r'label="([^"]*)"', s).group(1) for s in statements(to_dot(july_2024), r"\tlegend\d+")]  # type: ignore[union-attr]
    assert entries == ["pointwise: launches a kernel", "no_op: no kernel, metadata only"]


def test_a_long_cut_is_shortened_and_whole_in_its_tooltip() -> None:
    names = tuple(f"T{n}" for n in range(1, 8))
    text = to_dot(two_groups(names))
    (node,) = statements(text, "cut_0_1")
    assert 'label="T1\\nT2\\nT3\\n+ 4 more"' in node
    assert "T7" in node.split("tooltip=", 1)[1]


def test_a_group_of_many_operations_is_shortened() -> None:
    (node,) = statements(to_dot(two_groups(("T1",), operations=60)), "g0")
    label, tooltip = node.split("tooltip=", 1)
    assert label.count("\\n") == 5
    assert "…" in label
    assert "op59" in tooltip


def test_names_and_operators_are_never_markup(engine: str) -> None:
    nasty = '<b>:"\\N|{x'
    fusion = two_groups((nasty,), operator=nasty)
    assert draw(to_dot(fusion, title=nasty)).data.count(b"&lt;b&gt;:&quot;\\N|{x") >= 4


@pytest.mark.parametrize(("golden", "dump", "number"), CASES, ids=[case[0] for case in CASES])
def test_real_fusions_are_drawn(engine: str, golden: str, dump: str, number: int) -> None:
    fusion = real_fusion(dump, number)
    svg = draw(to_dot(fusion)).data.decode()
    for group in fusion.groups:
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
