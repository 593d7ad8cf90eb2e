"""SVG that a page or a notebook can take in: shapes and text, and nothing that runs or is fetched."""

from __future__ import annotations

from typing import Final, NoReturn
from xml.etree.ElementTree import ParseError, XMLParser
from xml.sax.saxutils import escape, quoteattr

from segscope.errors import RenderError

_SVG: Final = "{http://www.w3.org/2000/svg}"
_TOOLTIP: Final = "{http://www.w3.org/1999/xlink}title"
_WORDS: Final = frozenset({"class", "text-anchor", "font-family", "font-weight", "font-style"})
_PAINT: Final = frozenset(
    {"fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity"}
)
_PLACES: Final = frozenset(
    "width height viewBox transform points d x y x1 y1 x2 y2 dx dy cx cy r rx ry font-size".split()
)
ELEMENTS: Final = frozenset("svg g title polygon polyline path ellipse circle rect line text tspan".split())
ATTRIBUTES: Final = _WORDS | _PAINT | _PLACES


def sanitize(svg: bytes) -> str:
    """Return an SVG with the elements and attributes that draw (ELEMENTS, ATTRIBUTES), and no others.

    An element that is not among them is left out with all that is in it: scripts, styles, images, foreign objects. So
    are event attributes, references, and values that CSS might read as one. A link becomes a group that keeps its
    ``xlink:title``, as the title that browsers show.

    Raises RenderError for what is not an SVG, and for a document type, which could define entities.
    """
    writer = _Writer()
    parser = XMLParser(target=writer)
    try:
        parser.feed(svg)
        parser.close()
    except ParseError as error:
        raise RenderError(f"not an SVG: {error}") from None
    return "".join(writer.written)


class _Writer:
    """A target of XMLParser that writes what it lets through."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self._open: list[str] = []
        self._left_out = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> NoReturn:
        raise RenderError("an SVG with a document type is not taken")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.removeprefix(_SVG)
        if not self._open and tag != f"{_SVG}svg":
            raise RenderError("not an SVG")
        shown = "g" if name == "a" else name
        if self._left_out or shown not in ELEMENTS:
            self._left_out += 1
            return
        kept = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items() if _draws(key, value))
        if not self._open:
            kept += f' xmlns="{_SVG[1:-1]}"'
        self._open.append(shown)
        self.written.append(f"<{shown}{kept}>")
        if _TOOLTIP in attributes:
            self.written.append(f"<title>{escape(attributes[_TOOLTIP])}</title>")

    def end(self, tag: str) -> None:
        if self._left_out:
            self._left_out -= 1
        else:
            self.written.append(f"</{self._open.pop()}>")

    def data(self, text: str) -> None:
        if not self._left_out:
            self.written.append(escape(text))

    def close(self) -> None:
        pass


def _draws(name: str, value: str) -> bool:
    return name in ATTRIBUTES and "\\" not in value and (name == "transform" or "(" not in value)
