from __future__ import annotations

import math
from itertools import combinations

import pytest

from segscope.model import SCHEDULERS
from segscope.render.palette import BACKGROUND, FINDING_LINE, OPERATIONS, kernel_style, metadata_style, operation_shape

Matrix = tuple[tuple[float, float, float], ...]
VISION: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Machado, Oliveira and Fernandes 2009, severity 1.0; on linear RGB."""


def linear(colour: str) -> list[float]:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def lab(colour: str, vision: Matrix) -> tuple[float, float, float]:
    """The colour as that vision sees it, in CIELAB (white point D65)."""
    rgb = [min(1, max(0, sum(a * b for a, b in zip(row, linear(colour), strict=True)))) for row in vision]
    to_xyz = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8728))
    xyz = [sum(a * b for a, b in zip(row, rgb, strict=True)) for row in to_xyz]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheduler", [*SCHEDULERS, "of_tomorrow"])
def test_text_and_borders_are_readable(scheduler: str) -> None:
    loud, quiet = kernel_style(scheduler), metadata_style(scheduler)
    assert contrast(loud.text, loud.fill) >= 7
    assert contrast(loud.border, BACKGROUND) >= 4.5
    assert contrast(quiet.text, quiet.fill) >= 4.5


@pytest.mark.parametrize("scheduler", [*SCHEDULERS, "of_tomorrow"])
def test_a_kernel_group_is_louder_than_a_metadata_group(scheduler: str) -> None:
    loud, quiet = kernel_style(scheduler), metadata_style(scheduler)
    assert (loud.border_style, quiet.border_style) == ("solid", "dashed")
    assert loud.border_width > quiet.border_width
    assert contrast(loud.border, BACKGROUND) > contrast(quiet.border, BACKGROUND)


@pytest.mark.parametrize("vision", VISION)
def test_schedulers_stay_apart_with_any_colour_vision(vision: str) -> None:
    names = [name for name in SCHEDULERS if name != "persistent"]  # the older word for inner_persistent and two more
    colours = {name: lab(kernel_style(name).fill, VISION[vision]) for name in (*names, "of_tomorrow")}
    near = {(a, b): math.dist(colours[a], colours[b]) for a, b in combinations(colours, 2)}
    assert min(near.values()) > 8, min(near, key=near.__getitem__)


@pytest.mark.parametrize("kind", [*OPERATIONS, "unary"])
def test_operations_are_readable_and_apart_from_every_scheduler(kind: str) -> None:
    style = operation_shape(kind)
    assert contrast(style.text, style.fill) >= 7
    if kind in OPERATIONS:
        assert min(contrast(style.fill, kernel_style(name).fill) for name in SCHEDULERS) >= 3


@pytest.mark.parametrize("vision", VISION)
def test_casts_are_apart_from_what_resizes(vision: str) -> None:
    cast, resizing = (lab(operation_shape(kind).fill, VISION[vision]) for kind in ("cast", "slice"))
    assert math.dist(cast, resizing) > 20


def test_operations_to_look_for_have_shapes_of_their_own() -> None:
    shapes = [operation_shape(kind).shape for kind in (*OPERATIONS, "unary")]
    assert len(set(shapes)) == len(shapes)


def test_a_finding_is_readable_on_white() -> None:
    assert contrast(FINDING_LINE, BACKGROUND) >= 4.5


def test_an_unknown_scheduler_is_neutral() -> None:
    assert kernel_style("of_tomorrow") == kernel_style("another")
