from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.errors import RenderError
from segscope.model import SegmentedFusion
from segscope.render import draw
from segscope.render.labels import LINE_LIMIT, cut, printable
from segscope.render.mermaid import EDGE_LIMIT, TEXT_LIMIT, escape, to_markdown, to_mermaid
from segscope.render.view import View

from .conftest import FIXTURES, real_fusion
from .hostile import TEXTS, chain, fusion_of

DUMPS = sorted(p for p in FIXTURES.rglob("*.txt") if "Segmented_Fusion" in p.read_text("utf-8", "replace"))
TEXT = r'"(?:[0-9A-Za-z _.,+()\[\]·…]|#\d+;|<br>)*"'
STATEMENT = re.compile(
    rf"    (?:subgraph legend|end|    legend_\w+\[{TEXT}\]:::\w+|\w+\[{TEXT}\]:::\w+|\w+\(\[{TEXT}\]\):::boundary"
    rf"|\w+ (?:-->|==>)(?:\|{TEXT}\|)? \w+|classDef \w+ [\w#:,.-]+)"
)


def statements(text: str) -> list[str]:
    """The statements of a flowchart, each of a form that Mermaid 11 was seen to draw."""
    head, title, config, rule, kind, *lines = text.splitlines()
    assert (head, rule, kind) == ("---", "---", "flowchart TB")
    assert config.startswith("config: {flowchart: {")
    assert isinstance(json.loads(title.removeprefix("title: ")), str)
    for line in lines:
        assert STATEMENT.fullmatch(line), line
    return [line.strip() for line in lines]


def shown(label: str) -> str:
    """What Mermaid makes of a label: an entity code is a character of HTML."""
    return html.unescape(re.sub(r"#(\d+);", r"&#\1;", label)).replace("\u200b", "").replace("\xa0", " ")


@pytest.mark.parametrize("path", DUMPS, ids=[p.stem for p in DUMPS])
def test_every_group_and_cut_is_drawn(path: Path) -> None:
    for fusion in read(path).fusions:
        lines = statements(to_mermaid(fusion))
        for group in fusion.groups:
            (node,) = (line for line in lines if line.startswith(f"g{group.index}["))
            kernel = fusion.launches_kernel(group)
            assert shown(node).startswith(
                f'g{group.index}["{group.label} · {group.scheduler}{" · kernel" * kernel}<br>'
            )
            assert re.search(r":::kernel\d+$" if kernel else r":::metadata\d+$", node)
        drawn = re.findall(r"^g(\d+) [-=]+>\|.*\| g(\d+)$", "\n".join(lines), re.MULTILINE)
        assert [(int(a), int(b)) for a, b in drawn] == [(cut.source, cut.target) for cut in fusion.cuts]


def test_large_cuts_are_thick_and_styles_are_those_of_the_palette(july_2024: SegmentedFusion) -> None:
    lines = [shown(line) for line in statements(to_mermaid(july_2024, "nvfuser-0.2.8"))]
    assert 'g1 ==>|"T23 float [2, 40, 4096, 128] 167.8 MB"| g10' in lines
    assert 'g1 -->|"T22 float [2, 40, 4096, 128] 2.1 MB (expanded)"| g4' in lines
    assert "classDef kernel0 fill:#8ecbf2,stroke:#00507d,color:#1a1a1a,stroke-width:3px" in lines
    assert 'legend_kernel0["pointwise: launches a kernel"]:::kernel0' in lines


def test_golden_text(july_2024: SegmentedFusion) -> None:
    golden = Path(__file__).parent / "golden" / "llama-2-13b_july-2024.mmd"
    assert to_mermaid(july_2024) == golden.read_text("utf-8"), "if the new one is better: segscope render ... -o GOLDEN"


def test_the_model_alone_decides_the_text(july_2024: SegmentedFusion) -> None:
    again = SegmentedFusion.model_validate_json(july_2024.model_dump_json())
    assert to_mermaid(again) == to_mermaid(july_2024)


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_hostile_names_are_text(text: str) -> None:
    lines = statements(to_mermaid(fusion_of(text), title=text))
    (node,) = (line for line in lines if line.startswith("g1["))
    heading, operation, *_ = shown(node).removeprefix('g1["').split("<br>")
    assert heading == cut(f"g1 · {printable(text)} · kernel", LINE_LIMIT)
    assert operation == cut(printable(text), LINE_LIMIT)


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_a_fence_is_not_ended_from_inside(text: str) -> None:
    lines = to_markdown(fusion_of(text), title=text).splitlines()
    assert [n for n, line in enumerate(lines) if line.lstrip().startswith("```")] == [0, len(lines) - 1]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("T8 float [2, 40]", "T8 float [2, 40]"),
        ("<b>", "#60;b#62;"),
        ('"', "#34;"),
        ("#35;", "#35;35#59;"),
        ("%%{init", "#37;#37;#123;init"),
        ("a\nb", "a b"),
        ("$$", "#36;#8203;#36;"),
        ("fa:fa-car", "fa#58;#8203;fa#45;car"),
    ],
)
def test_escape(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@pytest.mark.parametrize("length", [EDGE_LIMIT + 1, TEXT_LIMIT // 100])
def test_what_mermaid_would_not_take_is_refused(length: int) -> None:
    with pytest.raises(RenderError, match=r"fusion 0 is too large for Mermaid: [\d,]+ characters and [\d,]+ edges"):
        to_mermaid(chain(length))


def test_a_part_of_what_is_too_large_is_drawn() -> None:
    lines = statements(to_mermaid(chain(EDGE_LIMIT + 1), view=View(focus=(7,), radius=2)))
    assert [line.split("[")[0] for line in lines if re.match(r"g\d+\[", line)] == ["g5", "g6", "g7", "g8", "g9"]
    assert not [line for line in lines if line.startswith(("input", "output"))]


def test_metadata_groups_collapse(july_2024: SegmentedFusion) -> None:
    lines = [shown(line) for line in statements(to_mermaid(july_2024, view=View(collapse=True)))]
    assert 'g2["2 groups · no_op<br>2 slice"]:::metadata1' in lines
    assert not [line for line in lines if line.startswith("g3[")]
    assert [line for line in lines if re.fullmatch(r"g2 ==>\|.*T11 .*T45 .*\| g10", line)]


def test_expressions_are_refused(july_2024: SegmentedFusion) -> None:
    with pytest.raises(RenderError, match=r"one node a group: write \.svg or \.html"):
        to_mermaid(july_2024, view=View("expressions"))


def test_files(tmp_path: Path, july_2024: SegmentedFusion) -> None:
    assert draw(july_2024, tmp_path / "a.mmd") == draw(july_2024, tmp_path / "a.md") == "segscope"
    alone = (tmp_path / "a.mmd").read_text("utf-8")
    assert alone == to_mermaid(july_2024)
    assert (tmp_path / "a.md").read_text("utf-8") == f"```mermaid\n{alone}```\n"
    draw(read(FIXTURES / "null_0.2.8_llama2-13b_bookend0_forward.txt"), tmp_path / "capture.mmd")
    assert (tmp_path / "capture.mmd").read_text("utf-8") == alone


def test_a_reduction_is_drawn_in_its_colour() -> None:
    text = to_mermaid(real_fusion("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward", 12))
    assert "fill:#72b39f" in text
