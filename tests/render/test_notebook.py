"""What objects show of themselves in a notebook: text, HTML, SVG and PNG, and never an error."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from IPython.core.formatters import DisplayFormatter

from segscope import diff
from segscope.checks import check
from segscope.errors import ToolchainError
from segscope.model import Capture, SegmentedFusion
from segscope.render import engine as drawing
from segscope.render.notebook import LARGE
from segscope.sweep import Point, product, sweep
from segscope.sweep.runner import Results

from .conftest import FIXTURES, real_fusion
from .executors import samples
from .hostile import TEXTS, chain, fusion_of

VOID = {"br", "img", "meta", "input"}


class Elements(HTMLParser):
    """The elements of a piece of HTML, each with its attributes; an element that is not closed is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


def read(name: str) -> Capture:
    from segscope.dump import read

    return read(FIXTURES / f"{name}.txt")


def test_a_fusion_shows_itself_as_text_html_and_svg(engine: str, july_2024: SegmentedFusion) -> None:
    bundle = july_2024._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"] == str(july_2024)
    assert ElementTree.fromstring(bundle["image/svg+xml"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert "#10 · pointwise · kernel" in bundle["image/svg+xml"]
    assert "#10 · pointwise · kernel" in bundle["text/html"]
    assert Elements(bundle["text/html"]).named("details") == [{"open": None}]


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_the_groups_are_a_table(july_2024: SegmentedFusion) -> None:
    bundle = july_2024._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert len(Elements(bundle["text/html"]).named("tr")) == 12
    assert "slice · 2 cast · neg" in bundle["text/html"]


@pytest.mark.parametrize(("groups", "folded"), [(LARGE, False), (LARGE + 1, True)])
def test_a_large_fusion_is_folded_away(groups: int, folded: bool) -> None:
    bundle = chain(groups)._repr_mimebundle_()
    assert Elements(bundle["text/html"]).named("details") == [{} if folded else {"open": None}]
    assert ("image/svg+xml" in bundle) is not folded


def test_an_engine_that_takes_too_long_leaves_a_table(
    july_2024: SegmentedFusion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("segscope.render.notebook.TIME_LIMIT", 0.0)
    bundle = july_2024._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert Elements(bundle["text/html"]).named("table")


def test_nothing_is_raised(july_2024: SegmentedFusion, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(drawing, "draw", fails)
    assert july_2024._repr_mimebundle_() == {"text/plain": str(july_2024)}


def test_a_capture_shows_its_fusions() -> None:
    capture = read("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward")
    bundle = capture._repr_mimebundle_()
    assert bundle["text/plain"] == repr(capture)
    assert "image/svg+xml" not in bundle
    assert Elements(bundle["text/html"]).named("details") == [{}] * 18
    one = read("null_0.2.8_llama2-13b_bookend0_forward")
    assert one._repr_mimebundle_()["image/svg+xml"] == one.fusion._repr_mimebundle_()["image/svg+xml"]


def test_findings_are_a_table(july_2024: SegmentedFusion) -> None:
    findings = check(july_2024, ["fp32-crossing"])
    bundle = findings._repr_mimebundle_()
    assert bundle["text/plain"].splitlines()[0] == str(findings[0])
    assert len(Elements(bundle["text/html"]).named("tr")) == 1 + len(findings) == 3
    assert "NVFUSER_ENABLE=io_to_lower_precision" in bundle["text/html"]
    assert check(july_2024, ["cycle"])._repr_mimebundle_() == {"text/plain": "no findings"}


def test_errors_come_before_warnings_and_notes(july_2024: SegmentedFusion) -> None:
    findings = check(july_2024, severities={"resize-boundary": "error"})
    bundle = findings._repr_mimebundle_()
    shown = [line.split(":")[0] for line in bundle["text/plain"].splitlines() if not line.startswith(" ")]
    assert shown == sorted(shown, key=["error", "warning", "note"].index)
    assert set(shown) == {"error", "warning", "note"}
    assert re.findall(r">(error|warning|note)<", bundle["text/html"]) == shown


def test_an_explanation_names_groups_by_their_labels() -> None:
    today = real_fusion("h200_0.2.36_Llama-2-13b-hf_bookend0_forward")
    bundle = today.explain()._repr_mimebundle_()
    assert bundle["text/plain"].startswith("g5 → ")
    assert "g5 → g3" in bundle["text/html"]
    assert "#" not in bundle["text/plain"]


def test_a_diff_shows_itself(july_2024: SegmentedFusion) -> None:
    compared = diff(july_2024, real_fusion("h200_0.2.36_Llama-2-13b-hf_bookend0_forward"))
    bundle = compared._repr_mimebundle_()
    assert bundle["text/plain"].startswith(f"{compared}\n")
    assert "merged from #1, #7 and #10" in bundle["image/svg+xml"]
    assert "merged from #1, #7 and #10" in bundle["text/html"]
    assert Elements(bundle["text/html"]).named("details") == [{"open": None}]


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_the_changes_are_a_table(july_2024: SegmentedFusion) -> None:
    compared = diff(july_2024, real_fusion("h200_0.2.36_Llama-2-13b-hf_bookend0_forward"))
    bundle = compared._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert len(Elements(bundle["text/html"]).named("tr")) == 1 + len(compared.changes)
    same = diff(july_2024, july_2024)._repr_mimebundle_()
    assert same["text/plain"] == "6 kernel groups -> 6; the same"
    assert Elements(same["text/html"]).named("table") == []


@pytest.mark.parametrize(("groups", "folded"), [(LARGE, False), (LARGE + 1, True)])
def test_a_large_diff_is_folded_away(groups: int, folded: bool) -> None:
    bundle = diff(chain(groups), chain(groups - 1))._repr_mimebundle_()
    assert Elements(bundle["text/html"]).named("details") == [{} if folded else {"open": None}]
    assert ("image/svg+xml" in bundle) is not folded


def test_an_explanation_is_a_table(july_2024: SegmentedFusion) -> None:
    bundle = july_2024.explain()._repr_mimebundle_()
    assert len(bundle["text/plain"].splitlines()) == len(july_2024.cuts)
    assert len(Elements(bundle["text/html"]).named("tr")) == 1 + len(july_2024.cuts)
    assert "#1 → #10" in bundle["text/html"]
    alone = real_fusion("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward", 3)
    assert alone.explain()._repr_mimebundle_() == {"text/plain": "no cuts"}


def test_headroom_is_a_table_with_pictures_of_its_proofs(july_2024: SegmentedFusion) -> None:
    headroom = july_2024.headroom()
    bundle = headroom._repr_mimebundle_()
    assert bundle["text/plain"].startswith("RULES ")
    html = Elements(bundle["text/html"])
    assert len(html.named("tr")) == 2 + len(headroom.bounds)
    assert html.named("details") == [{}] * len(headroom.bounds)
    assert len(html.named("svg")) == len(headroom.bounds)


def displayed(thing: Any, *include: str) -> dict[str, str]:
    """Return what ``display(thing, include=...)`` shows."""
    data, _ = DisplayFormatter().format(thing, include=set(include))
    return data  # type: ignore[no-any-return]


def size(png: str) -> tuple[int, int]:
    """Return the width and height of a PNG."""
    data = b64decode(png, validate=True)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def swept(folder: Path) -> Results:
    """Capture RoPE in two nvFusers, the second of which is not there."""
    old, new = "nvfuser-0.2.24.dev20250115", "nvfuser-0.2.25.dev20250201"
    dump = "history/null_0.2.24.dev20250115_Llama-2-13b-hf_definition"

    def capture(point: Point) -> Capture:
        if point.toolchain == new:
            raise ToolchainError("not there")
        return read(dump)

    return sweep(product("rope", toolchains=[old, new]), folder=folder, capture=capture)


def test_a_picture_is_png_where_that_is_asked_for(engine: str, july_2024: SegmentedFusion) -> None:
    capture = read("null_0.2.8_llama2-13b_bookend0_forward")
    for thing in (july_2024, capture, diff(july_2024, july_2024), samples.real(samples.THUNDER_711)):
        shown = displayed(thing, "text/plain", "image/png")
        assert set(shown) == {"text/plain", "image/png"}
        assert min(size(shown["image/png"])) > 300
        assert set(displayed(thing, "image/png")) == {"image/png"}
        assert set(displayed(thing, "text/html", "image/png")) == {"text/html", "image/png"}


@pytest.mark.usefixtures("no_engine")
def test_where_no_png_can_be_drawn_what_else_was_asked_for_is_there(july_2024: SegmentedFusion) -> None:
    assert displayed(july_2024, "text/plain", "image/png") == {"text/plain": str(july_2024)}
    assert set(displayed(july_2024, "text/html", "image/png")) == {"text/html"}


def test_several_fusions_are_no_one_png() -> None:
    capture = read("h200_0.2.36_gpt-Llama-3-8B-2layers_forward+backward")
    assert set(displayed(capture, "text/plain", "image/png")) == {"text/plain"}


def test_a_sweep_shows_a_table_and_its_chart(tmp_path: Path) -> None:
    results = swept(tmp_path)
    bundle = displayed(results)
    assert bundle["text/plain"].splitlines()[1:] == [
        "rope Llama-2-13b-hf, h200 in nvfuser-0.2.24.dev20250115  4              4 pointwise",
        "rope Llama-2-13b-hf, h200 in nvfuser-0.2.25.dev20250201  not there",
    ]
    assert len(Elements(bundle["text/html"]).named("tr")) == 3
    assert Elements(bundle["text/html"]).named("svg")
    assert ElementTree.fromstring(bundle["image/svg+xml"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert min(size(displayed(results, "image/png")["image/png"])) > 300
    assert displayed(Results())["text/plain"].split() == ["point", "kernel", "groups", "by", "scheduler"]


def test_a_comparison_of_executors_shows_both_directions() -> None:
    bundle = displayed(samples.real(samples.THUNDER_711))
    assert bundle["text/plain"].startswith("RoPE of tiny-llama-1.1b\nthunder-711")
    assert "\x1b" not in bundle["text/plain"]
    assert len(Elements(bundle["text/html"]).named("svg")) == 2
    assert "thunder+torch.compile_cat+nvfuser makes 4 kernels, torch.compile 2" in bundle["text/html"]
    assert "forward" in bundle["image/svg+xml"]


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_a_comparison_is_tables() -> None:
    bundle = displayed(samples.real(samples.THUNDER_711))
    assert set(bundle) == {"text/plain", "text/html"}
    assert len(Elements(bundle["text/html"]).named("tr")) == 2 * (1 + 3)


def test_findings_are_lines_in_ipython(july_2024: SegmentedFusion) -> None:
    findings = check(july_2024, ["fp32-crossing"])
    assert displayed(findings)["text/plain"].startswith("warning: fp32-crossing: fusion 0: T22 crosses")


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_hostile_names_are_text(text: str) -> None:
    fusion = fusion_of(text)
    shown: list[Any] = [fusion, check(fusion), fusion.explain(), diff(fusion, chain(2))]
    for bundle in [item._repr_mimebundle_() for item in shown]:
        elements = Elements(bundle["text/html"]).found if "text/html" in bundle else []
        assert not {"script", "img", "lambda", "a"} & {tag for tag, _ in elements}
        assert not [name for _, attributes in elements for name in attributes if re.match("on|href|src", name)]
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", bundle["text/plain"])
