"""How a fusion shows itself in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from segscope.model import SegmentedFusion

TIME_LIMIT: Final = 10.0
"""Seconds that a cell waits for its picture."""


def mimebundle(fusion: SegmentedFusion) -> dict[str, str]:
    """Return ``text/plain``, and ``image/svg+xml`` where something can draw it in time. Never raises."""
    bundle = {"text/plain": str(fusion)}
    try:
        from segscope.render.dot import to_dot
        from segscope.render.engine import draw

        svg = draw(to_dot(fusion), "svg", TIME_LIMIT).data.decode("utf-8")
        bundle["image/svg+xml"] = svg[svg.index("<svg") :]
    except Exception:  # a cell that shows text is better than one that shows a traceback
        pass
    return bundle
