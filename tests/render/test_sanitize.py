from __future__ import annotations

from xml.etree import ElementTree

import pytest

from segscope.errors import RenderError
from segscope.model import SegmentedFusion
from segscope.render.dot import to_dot
from segscope.render.engine import draw
from segscope.render.sanitize import ATTRIBUTES, ELEMENTS, sanitize

from .hostile import TEXTS, fusion_of

SVG = "{http://www.w3.org/2000/svg}"


def svg(content: str, attributes: str = "") -> bytes:
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {spaces} {attributes}>{content}</svg>".encode()


@pytest.mark.parametrize(
    "harmful",
    [
        "<script>alert(1)</script>",
        "<script><text>inside</text></script>",
        "<foreignObject><b xmlns='http://www.w3.org/1999/xhtml'>b</b></foreignObject>",
        "<style>@import 'https://example.invalid/'</style>",
        "<image href='https://example.invalid/x.png'/>",
        "<use href='https://example.invalid/x.svg#a'/>",
        "<animate attributeName='href' to='javascript:alert(1)'/>",
        "<set attributeName='onload' to='alert(1)'/>",
        "<text xmlns='http://www.w3.org/1999/xhtml'>html</text>",
        "<?xml-stylesheet href='https://example.invalid/x.css'?>",
        "<!-- comment -->",
    ],
)
def test_what_does_not_draw_is_left_out_with_all_that_is_in_it(harmful: str) -> None:
    assert sanitize(svg(f"<g>{harmful}</g>")) == sanitize(svg("<g></g>"))


@pytest.mark.parametrize(
    "attribute",
    [
        'onload="alert(1)"',
        'style="fill: url(https://example.invalid/)"',
        'fill="url(https://example.invalid/#a)"',
        'fill="u\\72l(https://example.invalid/#a)"',
        'href="https://example.invalid/"',
        'xlink:href="javascript:alert(1)"',
        'filter="url(#a)"',
        'id="a"',
        'tabindex="0"',
    ],
)
def test_attributes_that_do_not_draw_are_left_out(attribute: str) -> None:
    assert sanitize(svg(f"<path {attribute} d='M0 0'/>")) == sanitize(svg("<path d='M0 0'/>"))
    assert sanitize(svg("", attribute)) == sanitize(svg(""))


def test_a_link_becomes_a_group_with_its_tooltip() -> None:
    link = svg("<a href='https://example.invalid/' xlink:title='a &lt;b&gt; &#10;c'><text x='1'>t</text></a>")
    assert sanitize(link) == (
        '<svg xmlns="http://www.w3.org/2000/svg"><g><title>a &lt;b&gt; \nc</title><text x="1">t</text></g></svg>'
    )


@pytest.mark.parametrize(
    "harmful",
    [
        b"<html/>",
        b"<svg/>",
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'>",
        b"\xff\xfe\x00",
        b"<!DOCTYPE svg [<!ENTITY a 'aaaa'>]><svg xmlns='http://www.w3.org/2000/svg'>&a;</svg>",
    ],
)
def test_what_is_no_plain_svg_is_refused(harmful: bytes) -> None:
    with pytest.raises(RenderError):
        sanitize(harmful)


def test_a_picture_stays_as_it_is(engine: str, july_2024: SegmentedFusion) -> None:
    drawn = draw(to_dot(july_2024)).data
    before, after = (ElementTree.fromstring(text) for text in (drawn, sanitize(drawn)))
    for name in ("polygon", "path", "ellipse", "text"):
        kept = [{k: v for k, v in e.attrib.items() if k in ATTRIBUTES} for e in before.iter(SVG + name)]
        assert [e.attrib for e in after.iter(SVG + name)] == kept
        assert [e.text for e in after.iter(SVG + name)] == [e.text for e in before.iter(SVG + name)]


@pytest.mark.parametrize("text", TEXTS, ids=[text[:20] for text in TEXTS])
def test_only_shapes_and_text_are_left_of_hostile_names(engine: str, text: str) -> None:
    clean = ElementTree.fromstring(sanitize(draw(to_dot(fusion_of(text), title=text)).data))
    for element in clean.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        assert ATTRIBUTES.issuperset(element.attrib)
