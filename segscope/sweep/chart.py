"""The chart of a sweep: kernel groups over toolchains by date, stacked by scheduler, a panel a series."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from segscope.render import palette
from segscope.sweep.result import Result
from segscope.sweep.table import in_order
from segscope.sweep.toolchains import date_of, expand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLE: Final = {
    "svg.fonttype": "none",
    "svg.hashsalt": "segscope",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": palette.TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_BAR: Final = 0.8
_CROSS: Final = "×"
_NARROWEST: Final = 7
_ABOUT: Final = ("Creator", "Date", "Format", "Type")
"""What matplotlib writes about itself and the day into an SVG, and is not to."""


def to_svg(results: Sequence[Result]) -> bytes:
    """Draw the results as SVG, the same for the same results and matplotlib. Raises ImportError without matplotlib."""
    return _draw(results, "svg", dict.fromkeys(_ABOUT))


def to_png(results: Sequence[Result]) -> bytes:
    """Draw the results as PNG, as ``to_svg`` does."""
    return _draw(results, "png", {"Software": None})


def _draw(results: Sequence[Result], format: str, about: Mapping[str, None]) -> bytes:
    """Draw the results.

    A panel shows what differs in toolchains alone. They stand at equal distances, oldest first, those without a date
    last. A point without a whole dump is a cross.
    """
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    panels: dict[str, list[Result]] = {}
    for result in results:
        panels.setdefault(result.point.series, []).append(result)
    toolchains = expand(dict.fromkeys(result.point.toolchain for result in results))
    schedulers = in_order(name for result in results for name in result.kernels)
    written = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        width = max(_NARROWEST, 1.5 + 0.3 * len(toolchains))
        size = (width, 2.2 + 1.4 * len(panels))
        figure = Figure(figsize=size, layout="constrained", facecolor=palette.BACKGROUND)
        all_axes = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, (name, found) in zip(all_axes, panels.items(), strict=True):
            axes.set_title(name, loc="left", fontsize=9)
            _panel(axes, found, toolchains, schedulers)
        all_axes[-1].set_xticks(range(len(toolchains)), map(_label, toolchains), rotation=90)
        figure.supylabel("kernel groups", fontsize=9)
        legend = [Patch(label=name, **_paint(name)) for name in schedulers]
        if not all(result.counted for result in results):
            legend.append(Patch(label=f"{_CROSS} no whole dump", fill=False, linewidth=0))
        figure.legend(handles=legend, loc="outside upper left", ncols=int(width / 1.6), frameon=False)
        figure.savefig(written, format=format, metadata=about)
    return written.getvalue()


def _panel(axes: Axes, results: Sequence[Result], toolchains: Sequence[str], schedulers: Sequence[str]) -> None:
    for result in results:
        place = toolchains.index(result.point.toolchain)
        below = 0
        for scheduler in filter(result.kernels.get, schedulers):
            height = result.kernels[scheduler]
            axes.bar(place, height, _BAR, below, **_paint(scheduler))
            below += height
        text, colour = (str(below), palette.TEXT) if result.counted else (_CROSS, palette.FINDING_LINE)
        axes.annotate(text, (place, below), (0, 2), textcoords="offset points", ha="center", color=colour)
    axes.margins(x=0.01, y=0.2)
    axes.locator_params(axis="y", integer=True, nbins=4)


def _paint(scheduler: str) -> dict[str, str]:
    style = palette.kernel_style(scheduler)
    return {"facecolor": style.fill, "edgecolor": style.border}


def _label(toolchain: str) -> str:
    """Return ``0.2.25  2025-02-01`` for ``nvfuser-0.2.25.dev20250201``."""
    name = toolchain.removeprefix("nvfuser-").partition(".dev")[0]
    return f"{name}  {date_of(toolchain)}".rstrip()
