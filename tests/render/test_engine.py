from __future__ import annotations

import os
import select
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from segscope.errors import RenderError
from segscope.model import SegmentedFusion
from segscope.render import draw as draw_file
from segscope.render.dot import to_dot
from segscope.render.engine import DrawingError, draw

GRAPH = "digraph { a -> b }"


def fake_engine(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch, name: str = "dot") -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_an_engine_says_its_name_and_version(engine: str) -> None:
    name, version = draw(GRAPH).engine.split(" ")
    assert name == {"dot": "Graphviz", "graphviz-pure": "graphviz-pure"}[engine]
    assert version[0].isdigit()


@pytest.mark.parametrize(("format", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_formats(engine: str, format: str, magic: bytes) -> None:
    if (engine, format) == ("graphviz-pure", "pdf"):
        with pytest.raises(RenderError, match="pdf needs Graphviz"):
            draw(GRAPH, format)
    else:
        assert draw(GRAPH, format).data.startswith(magic)


def test_an_svg_has_no_script_and_names_nothing_outside(engine: str, july_2024: SegmentedFusion) -> None:
    svg = draw(to_dot(july_2024)).data
    assert b"<!DOCTYPE" not in svg
    elements = list(ET.fromstring(svg).iter())
    assert {e.tag.rpartition("}")[2] for e in elements} <= {"svg", "g", "title", "a", "polygon", "path", "text"}
    attributes = {name.rpartition("}")[2] for e in elements for name in e.attrib}
    assert not {name for name in attributes if name == "href" or name.startswith("on")}


def test_a_picture_has_a_background_of_its_own(engine: str, july_2024: SegmentedFusion) -> None:
    first = next(ET.fromstring(draw(to_dot(july_2024)).data).iter("{http://www.w3.org/2000/svg}polygon"))
    assert first.get("fill") in ("#ffffff", "white")


def test_dot_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine(tmp_path, "echo 'fake version 7.5' >&2; echo '<svg/>'", monkeypatch)
    fake_engine(tmp_path, "exit 1", monkeypatch, "graphviz-pure")
    assert draw(GRAPH) == (b"<svg/>\n", "Graphviz 7.5")


def test_graphviz_pure_is_found_beside_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine(tmp_path, "echo '<svg/>'", monkeypatch, "graphviz-pure")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert draw(GRAPH) == (b"<svg/>\n", "graphviz-pure")


@pytest.mark.usefixtures("no_engine")
def test_no_engine_says_what_to_install() -> None:
    with pytest.raises(RenderError, match=r"install Graphviz .* or pip install 'segscope\[draw\]'"):
        draw(GRAPH)


@pytest.mark.usefixtures("no_engine")
def test_dot_text_needs_no_engine(july_2024: SegmentedFusion, tmp_path: Path) -> None:
    draw_file(july_2024, tmp_path / "a.dot")
    assert (tmp_path / "a.dot").read_text("utf-8") == to_dot(july_2024)


def test_what_an_engine_refuses_is_one_line(engine: str) -> None:
    with pytest.raises(RenderError, match=r"failed: .*syntax error") as refused:
        draw("digraph { a -> ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'Warning: no font' >&2; echo 'Error: no layout' >&2; echo more >&2; exit 3", "failed: Error: no layout"),
        ("exit 3", "failed: exit code 3"),
        ("kill -SEGV $$", "failed: ended by signal 11"),
        ("exit 0", "drew nothing"),
    ],
)
def test_a_failing_engine(script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine(tmp_path, script, monkeypatch)
    with pytest.raises(RenderError, match=f"{message}$"):
        draw(GRAPH)


def test_an_engine_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine(tmp_path, "", monkeypatch)
    (tmp_path / "dot").write_text("#!/no/such/interpreter\n")
    with pytest.raises(RenderError, match="does not start"):
        draw(GRAPH)


def test_a_slow_engine_is_ended_with_all_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine and its child hold a pipe open; its end is reached when both are gone."""
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    fake_engine(tmp_path, f'test "$1" = -V || {{ exec 3>{alive}; echo started >&3; sleep 600 & wait; }}', monkeypatch)
    with pytest.raises(RenderError, match=r"took longer than 2 s and was ended"):
        draw(GRAPH, timeout=2)
    seen = b""
    while select.select([reader], [], [], 60)[0] and (data := os.read(reader, 100)):
        seen += data
    os.close(reader)
    assert (seen, data) == (b"started\n", b"")


@pytest.mark.parametrize("script", ["exit 3", "exit 0", "sleep 600"])
def test_what_was_not_drawn_is_kept_as_dot_text(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine(tmp_path, f'test "$1" = -V || {script}', monkeypatch)
    with pytest.raises(DrawingError) as failed:
        draw(GRAPH, timeout=1)
    kept = failed.value.keep(tmp_path / "a.svg")
    assert str(kept) == f"{failed.value}; the DOT text is in {tmp_path / 'a.svg.dot'}"
    assert (tmp_path / "a.svg.dot").read_text() == GRAPH
    assert "No such file or directory" in str(failed.value.keep(tmp_path / "nowhere" / "a.svg"))


def test_an_old_dot_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine(tmp_path, "echo 'dot - graphviz version 2.26.3 (20100126.1600)' >&2", monkeypatch)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(
        RenderError, match=r"dot is Graphviz 2\.26\.3, too old: install Graphviz 2\.40 or later, or pip"
    ):
        draw(GRAPH)


def test_graphviz_pure_draws_where_dot_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_engine(tmp_path, "echo 'dot - graphviz version 2.26.3 (20100126.1600)' >&2", monkeypatch)
    fake_engine(tmp_path, "echo '<svg/>'", monkeypatch, "graphviz-pure")
    assert draw(GRAPH).engine == "graphviz-pure"


def test_an_unknown_format_lists_the_valid_ones() -> None:
    with pytest.raises(RenderError, match="'gif'; formats: svg, png, pdf"):
        draw(GRAPH, "gif")


def test_an_unknown_suffix_lists_the_valid_ones(july_2024: SegmentedFusion, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match=r"one of \.svg, \.png, \.pdf, \.dot"):
        draw_file(july_2024, tmp_path / "segments.gif")


def test_a_file_that_cannot_be_written(july_2024: SegmentedFusion, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="No such file or directory"):
        draw_file(july_2024, tmp_path / "nowhere" / "a.dot")
