from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from graphviz import Digraph

from segscope.render.engine import draw
from segscope.render.labels import LINE_LIMIT, TOOLTIP_LIMIT, cut, label, tooltip, wrap

LONG = "x" * 20_000

SHOWN = [
    ("plain", "plain"),
    ("<lambda>", "<lambda>"),
    ("<b>bold</b>", "<b>bold</b>"),
    ("a < b && c > d", "a < b && c > d"),
    ("&lt;&amp;&#65;", "&lt;&amp;&#65;"),
    ('say "this"', 'say "this"'),
    ('"', '"'),
    ('\\"', '\\"'),
    ("C:\\new\\lib", "C:\\new\\lib"),
    ("ends in \\", "ends in \\"),
    ("\\N \\G \\L \\E", "\\N \\G \\L \\E"),
    ("{left|right}", "{left|right}"),
    ("]; evil [label=x", "]; evil [label=x"),
    ("// # /* comment */", "// # /* comment */"),
    ("T5 · ( 128 - 64 ) é 漢", "T5 · ( 128 - 64 ) é 漢"),
    ("a\tb\x00c\x1b[31md\x7f", "a b c [31md "),
    ("lone \ud800", "lone \ufffd"),
    ("digraph", "digraph"),
    (LONG, "x" * (LINE_LIMIT - 1) + "…"),
]


def svg_of(text: str) -> ET.Element:
    graph = Digraph()
    graph.node("n", label([text]), tooltip=tooltip(text), shape="box")
    return ET.fromstring(draw(str(graph.source)).data)


@pytest.mark.parametrize(("text", "shown"), SHOWN, ids=[ascii(text)[:24] for text, _ in SHOWN])
def test_a_label_is_shown_as_text(engine: str, text: str, shown: str) -> None:
    texts = [e.text or "" for e in svg_of(text).iter("{http://www.w3.org/2000/svg}text")]
    assert [t.replace("\xa0", " ").rstrip() for t in texts] == [shown.rstrip()]


@pytest.mark.parametrize(("text", "shown"), SHOWN[:-1], ids=[ascii(text)[:24] for text, _ in SHOWN[:-1]])
def test_a_tooltip_is_shown_as_text(engine: str, text: str, shown: str) -> None:
    links = svg_of(text).iter("{http://www.w3.org/2000/svg}a")
    assert [a.get("{http://www.w3.org/1999/xlink}title") for a in links] == [shown]


@pytest.mark.parametrize("character", ["y", "&", "\\", '"', "漢", "🙂"])
def test_a_long_text_is_whole_in_the_tooltip_where_graphviz_takes_it(engine: str, character: str) -> None:
    for text, shown in (
        (character * 3000, character * 3000),
        (character * 20_000, cut(character * 20_000, TOOLTIP_LIMIT)),
    ):
        (link,) = svg_of(text).iter("{http://www.w3.org/2000/svg}a")
        assert link.get("{http://www.w3.org/1999/xlink}title") == shown


def test_lines_stay_lines(engine: str) -> None:
    graph = Digraph()
    graph.node("n", label(["one", "two\nthree"]), shape="box")
    texts = ET.fromstring(draw(str(graph.source)).data).iter("{http://www.w3.org/2000/svg}text")
    assert [t.text for t in texts] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [("", 3, ""), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 1, "…")],
)
def test_cut(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ([], []),
        (["a"], ["a"]),
        (["aaa", "bbb", "ccc"], ["aaa bbb", "ccc"]),
        (["a much longer word", "b"], ["a much longer word", "b"]),
    ],
)
def test_wrap_breaks_between_words_only(words: list[str], lines: list[str]) -> None:
    assert wrap(words, " ", 8) == lines
