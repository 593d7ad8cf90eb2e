"""The page: a template, its style and script with their hashes, the picture, and the facts as JSON."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template

from segscope.errors import RenderError
from segscope.model import SegmentedFusion
from segscope.render import engine
from segscope.render.dot import drawing
from segscope.render.html.facts import Facts, page_facts
from segscope.render.labels import printable
from segscope.render.sanitize import sanitize
from segscope.render.view import View


def to_html(fusion: SegmentedFusion, title: str | None = None, view: View | None = None) -> tuple[str, str]:
    """Return a fusion as one HTML file, and the name of what drew its picture.

    The page has no part outside itself: its Content-Security-Policy allows its own script and style by their hashes,
    and no request. Where nothing can draw, a table of the groups takes the picture's place and says why. ``view`` says
    what is in the picture; panel, search and tables are of the whole fusion. Raises RenderError as ``to_dot`` does.
    """
    heading = " · ".join(filter(None, [title, str(fusion)]))
    text, parts = drawing(fusion, title, view)
    try:
        drawn = engine.draw(text, "svg")
        picture, drawn_by, problem = sanitize(drawn.data), drawn.engine, ""
    except RenderError as error:
        picture, drawn_by, problem = "", "segscope", str(error)
    script = _static("picture.js") + _static("page.js")
    style = _static("page.css")
    page = Template(_static("page.html")).substitute(
        title=html.escape(printable(heading)),
        script=script,
        script_hash=_hash(script),
        style=style,
        style_hash=_hash(style),
        picture=picture,
        facts=_in_script(
            page_facts(fusion, view.times if view else None) | {"parts": parts.as_facts(fusion), "problem": problem}
        ),
    )
    return page, drawn_by


def _static(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _in_script(facts: Facts) -> str:
    """Return JSON in which nothing can end the script element that it is in, nor begin a comment."""
    text = json.dumps(facts, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
