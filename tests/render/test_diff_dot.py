"""The picture of a diff."""

from __future__ import annotations

import math
import re
import subprocess
from itertools import combinations
from pathlib import Path

import pytest

from segscope import diff, read
from segscope.compare.changes import KINDS
from segscope.errors import RenderError
from segscope.model import SegmentedFusion
from segscope.render.diff_dot import draw, to_dot
from segscope.render.palette import BACKGROUND, change_style
from tests.checks.handmade import fusion
from tests.conftest import need_program

from .conftest import FIXTURES, real_fusion
from .test_palette import VISION, contrast, lab

GOLDEN = Path(__file__).parent / "golden"
JULY = "null_0.2.8_llama2-13b_bookend0_forward"
TODAY = "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"
CASES = [
    ("diff_llama-2-13b_july-2024_today", JULY, TODAY),
    (
        "diff_tiny-llama_resize_resize-off",
        *(f"h200_0.2.36_tiny-llama-1.1b_bookend0{x}_forward" for x in ("", "_resize-off")),
    ),
]


def boxes(text: str) -> dict[str, str]:
    """The boxes by the first line of their labels, left ones with ``<``, right ones with ``>``."""
    found = re.findall(r'^\t(before|after)_\S+ \[label="?(.*?)(?:\\n|"| color=)(.*)$', text, re.MULTILINE)
    return {f"{'<' if side == 'before' else '>'} {first}": rest for side, first, rest in found}


@pytest.mark.parametrize(("golden", "before", "after"), CASES, ids=[case[0] for case in CASES])
def test_golden_text(golden: str, before: str, after: str) -> None:
    text = to_dot(diff(real_fusion(before), real_fusion(after)))
    assert text == (GOLDEN / f"{golden}.dot").read_text("utf-8")


def test_merged_groups_stand_together_and_say_so() -> None:
    text = to_dot(diff(real_fusion(JULY), real_fusion(TODAY)))
    found = boxes(text)
    merged = change_style("merged", kernel=True)
    for label in ("#1", "#7", "#10"):
        box = found[f"< {label} · pointwise · kernel"]
        assert box.startswith("merged into g4")
        assert f'fillcolor="{merged.fill}"' in box
        assert f"before_0_{label[1:]} -> after_0_1 " in text
    assert found["> g4 · resize · kernel"].startswith("merged from #1, #7 and #10")
    assert f'fillcolor="{change_style("moved", kernel=False).fill}"' in found["< moved to g5: squeeze T8"]
    assert "> moved from #1: squeeze T8" in found
    assert "> appeared: repeated cast T27, segmenter_set T50" in found
    column = re.findall(r"^\t\t(before_0_\d+) -> (before_0_\d+\S*) ", text, re.MULTILINE)
    order = list(dict.fromkeys(node for node, _ in column))
    assert order.index("before_0_1") < order.index("before_0_7") < order.index("before_0_10")


def test_what_did_not_change_is_quiet(july_2024: SegmentedFusion) -> None:
    text = to_dot(diff(july_2024, july_2024))
    unchanged = change_style(None, kernel=True)
    assert f'fillcolor="{unchanged.fill}"' in boxes(text)["< #1 · pointwise · kernel"]
    assert not any(change_style(kind, kernel=True).fill in text for kind in KINDS)


def test_many_groups_that_did_not_change_are_one_line() -> None:
    groups = [("pointwise", f"T{n + 1} = exp(T{n})") for n in range(40)]
    before = fusion(["T0"], ["T40"], *groups)
    after = fusion(["T0"], ["T40"], *groups[:-1], ("transpose", groups[-1][1]))
    found = boxes(to_dot(diff(before, after)))
    assert list(found) == [
        "< g39 · pointwise · kernel",
        "< 39 groups that did not change",
        "> g39 · transpose · kernel",
        "> 39 groups that did not change",
    ]


def test_more_groups_than_can_be_read_are_cut_off() -> None:
    before = fusion(["T0"], ["T400"], *[("pointwise", f"T{n + 1} = exp(T{n})") for n in range(400)])
    after = fusion(["T0"], ["T400"], *[("transpose", f"T{n + 1} = exp(T{n})") for n in range(400)])
    assert "< … 250 more groups" in boxes(to_dot(diff(before, after)))


def test_of_several_fusions_those_that_changed_are_drawn() -> None:
    gpt = read(FIXTURES / "h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward.txt")
    fewer = gpt.model_copy(update={"fusions": gpt.fusions[1:]})
    found = boxes(to_dot(diff(gpt, fewer)))
    assert [name for name in found if "fusion" in name] == ["< fusion 0: 3 groups", "> no such fusion"]
    assert found["< g0 · expr_eval"].startswith("vanished")


@pytest.mark.parametrize("hostile", ['"', "\\", "<b>&amp;</b>", "\\N", "{|}", "\n", "x" * 20_000, "</svg><script>"])
def test_hostile_operations_are_text(hostile: str) -> None:
    plain = fusion(["T0"], ["T1"], ("pointwise", "T1 = exp(T0)"))
    expr = plain.exprs[0].model_copy(update={"kind": "unknown", "op": hostile})
    text = to_dot(diff(plain, plain.model_copy(update={"exprs": (expr,)})))
    done = subprocess.run([need_program("dot"), "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    assert "<script" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("kind", [*KINDS, None])
@pytest.mark.parametrize("kernel", [True, False])
def test_text_is_readable(kind: str | None, kernel: bool) -> None:
    style = change_style(kind, kernel=kernel)
    assert contrast(style.text, style.fill) >= (7 if kind else 4.5)
    assert kind is None or contrast(style.border, BACKGROUND) >= 4.5


@pytest.mark.parametrize("vision", VISION)
def test_kinds_stay_apart_with_any_colour_vision(vision: str) -> None:
    colours = [lab(change_style(kind, kernel=True).fill, VISION[vision]) for kind in (*KINDS, None)]
    assert min(math.dist(a, b) for a, b in combinations(colours, 2)) > 20


def test_formats(july_2024: SegmentedFusion, engine: str, tmp_path: Path) -> None:
    compared = diff(july_2024, real_fusion(TODAY))
    drawn_by = draw(compared, tmp_path / "diff.svg")
    assert drawn_by.startswith("Graphviz" if engine == "dot" else engine)
    svg = (tmp_path / "diff.svg").read_text("utf-8")
    assert "merged from #1, #7 and #10" in svg
    draw(compared, tmp_path / "diff.PNG")
    assert (tmp_path / "diff.PNG").read_bytes().startswith(b"\x89PNG")


def test_a_suffix_that_is_not_known(july_2024: SegmentedFusion) -> None:
    with pytest.raises(RenderError, match=r"diff\.html: the suffix says the format of a diff's picture"):
        draw(diff(july_2024, july_2024), "diff.html")
