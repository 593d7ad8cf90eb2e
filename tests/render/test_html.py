"""The page in a real browser, and what of it can be read without one."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from segscope.errors import RenderError
from segscope.model import SegmentedFusion
from segscope.render import draw, palette
from segscope.render.html import to_html
from segscope.render.html.facts import REASONS
from segscope.render.selection import select
from segscope.render.view import View
from tests.checks.handmade import fusion as handmade
from tests.conftest import need_program

from .conftest import real_fusion
from .hostile import TEXTS, chain, fusion_of

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync""".split()
Open = Callable[..., Any]
"""Open a fusion's page in a tab: ``open_page(fusion, view=None, dark=False)``."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start Chromium; playwright drives it."""
    program = need_program("chromium")
    sync_api = pytest.importorskip("playwright.sync_api")

    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open pages, and hold each to it: no error, nothing on the console, no dialog, no request but for the file."""
    complaints: list[str] = []
    contexts = []

    def opened(fusion: SegmentedFusion, view: View | None = None, dark: bool = False) -> Any:
        path = tmp_path / "page.html"
        draw(fusion, path, view=view)
        contexts.append(browser.new_context(color_scheme="dark" if dark else "light"))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (complaints.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: request.url == path.as_uri() or complaints.append(f"request: {request.url}"))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def group_box(page: Any, label: str) -> Any:
    return page.locator(f'#picture [role="button"][aria-label^="{label} "]')


def view_box(page: Any) -> list[float]:
    return [float(n) for n in page.get_attribute("#picture > svg", "viewBox").split()]


def fill(page: Any, selector: str) -> str:
    return str(page.locator(selector).first.evaluate("e => getComputedStyle(e).fill"))


def titled(page: Any, name: str) -> list[str]:
    """The titles of the parts of the picture that have a class."""
    return list(page.locator(f"#picture .{name} > title").all_text_contents())


def test_a_click_opens_a_group(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    assert page.locator('#picture [role="button"][aria-label*="kernel"]').count() == 6
    group_box(page, "#7").click()
    assert page.text_content("#panel h2") == "#7 · pointwise · kernel"
    panel = page.text_content("#panel")
    assert "Expressions (4)" in panel
    assert "Expressions on scalars (5)" in panel
    assert "= slice( T8_g[" in panel
    assert "#1 → #7 over T8boundary: slice T12 in #7 reads T8" in panel
    assert titled(page, "chosen") == ["g7"]


def test_a_click_on_a_cut_says_why_it_is_there(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    page.locator('#picture [aria-label="cut from #1 to #10"]').click()
    assert page.text_content("#panel h2") == "#1 → #10"
    assert "cycle: as one, they would wait for #7" in page.text_content("#panel")


def test_all_of_it_works_from_the_keyboard(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    group_box(page, "#9").focus()
    page.keyboard.press("Enter")
    assert page.text_content("#panel h2") == "#9 · pointwise · kernel"
    assert page.evaluate("document.activeElement.id") == "panel"
    page.keyboard.press("/")
    page.keyboard.type("T52")
    assert "T52" in page.text_content("#panel")
    page.keyboard.press("Escape")
    assert page.input_value("#search") == ""
    page.focus("#picture")
    whole = view_box(page)
    page.keyboard.press("+")
    assert view_box(page)[2] < whole[2]
    page.keyboard.press("ArrowRight")
    assert view_box(page)[0] > whole[0]
    page.keyboard.press("0")
    assert view_box(page) == whole


def test_search_finds_a_tensor(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    page.fill("#search", "t8")
    assert page.text_content("#hits") == "6 hits"
    assert page.locator("#panel section").first.text_content().startswith("Tensors (1)T8 __bfloat [2, 40, 4096, 128]")
    crossing = {"cut_1_2", "cut_1_3", "cut_1_7"}
    assert {title for title in titled(page, "hit") if "->" not in title} == {"g1", "g2", "g3", "g7"} | crossing
    assert set(page.locator("#panel mark").all_text_contents()) == {"T8"}
    page.get_by_role("button", name="T8", exact=True).click()
    assert page.text_content("#panel h2") == "T8"
    assert "Computed by (1)#1 · pointwise · kernel" in page.text_content("#panel")


def test_search_finds_an_operation_and_opens_it(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    page.fill("#search", "= -t33")
    assert page.text_content("#hits") == "1 hit"
    assert page.locator("#panel section").text_content().startswith("Expressions (1)#8 neg")
    page.locator("#panel section").get_by_role("button", name="#8").click()
    assert page.text_content("#panel h2") == "#8 · pointwise · kernel"
    assert page.locator("#panel li.marked").text_content().startswith("neg")
    page.fill("#search", "no such thing")
    assert page.text_content("#hits") == "0 hits"
    assert page.text_content("#panel") == "Nothing found."


def test_findings_and_cuts_are_listed(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    page.get_by_role("button", name="Findings 21").click()
    assert page.locator("#panel li").first.text_content().startswith("warning fp32-crossing #1 #4T22 crosses")
    page.get_by_role("button", name="Cuts 18").click()
    assert page.locator("#panel li").count() == 18
    page.locator("#panel li").first.get_by_role("button", name="#4").click()
    assert page.text_content("#panel h2") == "#4 · pointwise · kernel"


def test_pan_and_zoom_with_the_mouse(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    whole = view_box(page)
    page.hover("#picture")
    page.mouse.wheel(0, -300)
    page.wait_for_function("w => document.querySelector('#picture > svg').viewBox.baseVal.width < w", arg=whole[2])
    zoomed = view_box(page)
    box = page.locator("#picture").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 260, steps=4)
    page.mouse.up()
    assert view_box(page)[0] < zoomed[0]
    assert view_box(page)[1] < zoomed[1]
    assert page.get_attribute('[data-list="groups"]', "aria-pressed") == "true"
    page.get_by_role("button", name="All").click()
    assert view_box(page) == whole


def test_a_group_out_of_sight_comes_into_sight(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    for _ in range(12):
        page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="#10 · pointwise · kernel").last.click()
    box, frame = group_box(page, "#10").bounding_box(), page.locator("#picture").bounding_box()
    middle = frame["x"] + frame["width"] / 2
    assert abs(box["x"] + box["width"] / 2 - middle) < frame["width"] / 2


def test_an_expression_in_the_picture_opens_its_group(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024, View("expressions"))
    page.locator('#picture [aria-label="neg in #7"]').click()
    assert page.text_content("#panel h2") == "#7 · pointwise · kernel"
    assert page.locator("#panel li.marked").text_content().startswith("neg")


VIEWS = [View(), View("expressions"), View(collapse=True), View("expressions", collapse=True)]


@pytest.mark.parametrize("view", VIEWS, ids=["groups", "expressions", "collapsed", "expressions collapsed"])
@pytest.mark.parametrize(
    "dump", ["null_0.2.8_llama2-13b_bookend0_forward", "h200_0.2.36_Llama-2-13b-hf_bookend0_forward"]
)
def test_every_cut_and_every_group_is_reached_from_the_picture(open_page: Open, view: View, dump: str) -> None:
    fusion = real_fusion(dump)
    page = open_page(fusion, view)
    labels = [group.label for group in fusion.groups]
    drawn = {index: box for box in select(fusion, view).boxes for index in box}
    cuts = [cut for cut in fusion.cuts if drawn[cut.source] != drawn[cut.target]]
    reached: set[str] = set()
    for part in page.locator('#picture [role="button"][aria-label^="cut"]').all():
        part.press("Enter")
        reached |= set(re.findall(r"([g#]\d+ → [g#]\d+) over", page.text_content("#panel")))
    assert reached == {f"{labels[cut.source]} → {labels[cut.target]}" for cut in cuts}
    reached = set()
    for part in page.locator('#picture [role="button"]').all():
        part.press("Enter")
        reached |= set(page.locator("#panel h2, #panel section:first-child button").all_text_contents())
    assert {label for label in labels if any(text.startswith(f"{label} ·") for text in reached)} == set(labels)


def test_a_box_of_several_groups_opens_them_all(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024, View(collapse=True))
    page.locator('#picture [aria-label="#2 · no_op, #3 · no_op"]').click()
    panel = page.text_content("#panel")
    assert panel.startswith("Groups (2)#2 · no_opslice1 expression")
    assert "Cuts (4)" in panel
    assert titled(page, "chosen") == ["g2"]
    page.fill("#search", "t45")
    assert {"g2", "g10", "cut_2_10"} <= set(titled(page, "hit"))
    assert "g3" not in titled(page, "hit")
    page.locator('#picture [aria-label="cuts from #1 to #2, #1 to #3"]').click()
    assert page.text_content("#panel").startswith("Cuts (2)#1 → #2 over T8")


def test_cuts_on_the_level_of_expressions(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024, View("expressions"))
    page.locator('#picture [aria-label="cut from #7 to #10"]').click()
    assert page.text_content("#panel h2") == "#7 → #10"
    (chosen,) = [title for title in titled(page, "chosen") if "->" not in title]
    assert "T15" in page.locator("#picture .node.chosen").text_content()
    page.locator('#picture [aria-label^="cuts from #1 to #2, #1 to #3, #1 to #7"]').click()
    assert page.text_content("#panel").startswith("Cuts (3)#1 → #2 over T8")
    page.fill("#search", "t15")
    assert [title for title in titled(page, "hit") if title.startswith("cut") and "->" not in title] == [chosen]


def test_an_arrow_from_side_to_side_is_a_cut(open_page: Open) -> None:
    page = open_page(real_fusion("h200_0.2.36_Llama-2-13b-hf_bookend0_forward"))
    arrow = page.locator('#picture [aria-label="cut from g4 to g3"]')
    arrow.press("Enter")
    assert page.text_content("#panel h2") == "g4 → g3"
    assert titled(page, "chosen") == ["g1->g3"]
    grounds = arrow.locator("polygon").evaluate_all("all => all.map(e => getComputedStyle(e).fill)")
    assert "rgb(255, 255, 255)" in grounds
    assert len(set(grounds)) == 2


def test_dark_mode_darkens_what_is_not_loud(open_page: Open, july_2024: SegmentedFusion) -> None:
    light, dark = open_page(july_2024), open_page(july_2024, dark=True)
    kernel, metadata = '[aria-label*="kernel"] polygon', '[aria-label^="#0 · no_op"] polygon'
    assert fill(light, kernel) == fill(dark, kernel) == "rgb(142, 203, 242)"
    assert fill(light, metadata) == "rgb(245, 245, 245)"
    assert fill(dark, metadata) == "rgb(31, 34, 39)"
    assert fill(light, '[aria-label^="cut from"] text') == "rgb(26, 26, 26)"
    assert fill(dark, '[aria-label^="cut from"] text') == "rgb(232, 234, 237)"


def test_the_style_knows_the_colours_of_the_palette() -> None:
    style = (Path(__file__).parents[2] / "segscope" / "render" / "html" / "page.css").read_text("utf-8")
    for colour in (palette.BACKGROUND, palette.CUT_LINE, palette.QUIET_LINE):
        assert f'"{colour}"' in style


@pytest.mark.usefixtures("no_engine")
def test_without_a_drawing_program_the_groups_are_a_table(open_page: Open, july_2024: SegmentedFusion) -> None:
    page = open_page(july_2024)
    assert not page.is_visible("#picture")
    assert "No picture: no drawing program found" in page.text_content("#panel")
    page.get_by_role("button", name="#7 · pointwise · kernel").click()
    assert "= slice( T8_g[" in page.text_content("#panel")
    page.fill("#search", "T48")
    assert "T48" in page.text_content("#panel")


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_hostile_names_are_text(open_page: Open, text: str) -> None:
    page = open_page(fusion_of(text))
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, a[href], #picture script").count() == 0
    assert page.title() != "run"
    page.locator("#panel button").nth(1).click()
    shown = page.locator("#panel code").first.text_content()
    assert shown == f"T2 = {text}".replace("\r", "\n")


def test_a_fusion_of_many_groups(open_page: Open) -> None:
    page = open_page(chain(250))
    assert page.locator("#panel li").count() == 201
    assert page.locator("#panel li").last.text_content() == "and 50 more"
    page.fill("#search", "T249")
    assert page.locator("#panel section").first.text_content().startswith("Tensors (1)T249")


def test_a_hit_is_shown_in_a_group_of_many_expressions(open_page: Open) -> None:
    many = handmade(["T0"], ["T250"], ("pointwise", "; ".join(f"T{n + 1} = exp(T{n})" for n in range(250))))
    page = open_page(many)
    page.fill("#search", "T240 = ")
    page.locator("#panel section").get_by_role("button", name="g0").first.click()
    assert "T240" in page.locator("#panel li.marked").text_content()


def test_of_very_many_cuts_the_page_gives_no_reasons() -> None:
    few, many = (re.findall(r'"kind":"([^"]*)"', to_html(chain(groups))[0]) for groups in (REASONS + 1, REASONS + 2))
    assert set(few) == {"legal"}
    assert many == ["not asked"] * (REASONS + 1)


@pytest.mark.parametrize("dump", ["Llama-2-13b-hf_bookend0_forward", "gpt-Llama-3-8B-2layers_forward+backward"])
def test_other_captures(open_page: Open, dump: str) -> None:
    fusion = real_fusion(f"h200_0.2.36_{dump}")
    page = open_page(fusion)
    for group in fusion.groups:
        group_box(page, group.label).first.press("Enter")
        assert page.text_content("#panel h2").startswith(f"{group.label} · ")


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_facts_stay_in_their_element(text: str) -> None:
    page, _ = to_html(fusion_of(text), text)
    (facts,) = re.findall(r'<script type="application/json" id="facts">([^<>&]*)</script>', page)
    assert json.loads(facts)["groups"][1]["expressions"][0]["text"] == f"T2 = {text}"
    assert page.count("</script>") == 2
    assert page.count("<script") == 2


def test_the_policy_allows_only_what_is_in_the_page(july_2024: SegmentedFusion) -> None:
    page, _ = to_html(july_2024)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    style, script = re.findall(r"<style>(.*?)</style>|<script>(.*?)</script>", page, re.DOTALL)
    hashes = [b64encode(sha256("".join(part).encode()).digest()).decode() for part in (script, style)]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert set(re.findall(r"https?://[^\s\"'<>]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"<[^>]*\s(?:on\w+|style|src|href)\s*=", page.split("<script")[0])


def test_a_view_that_names_nothing_is_an_error(july_2024: SegmentedFusion) -> None:
    with pytest.raises(RenderError, match="no group at position 99"):
        to_html(july_2024, view=View(focus=(99,)))


def test_the_model_alone_decides_the_text(july_2024: SegmentedFusion) -> None:
    again = SegmentedFusion.model_validate_json(july_2024.model_dump_json())
    assert to_html(again) == to_html(july_2024)
