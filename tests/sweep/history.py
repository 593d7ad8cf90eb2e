"""The dumps that are kept of nvFuser's history, as captures of points."""

from __future__ import annotations

from typing import Final

from segscope.dump import read
from segscope.errors import CaptureError
from segscope.model import Capture
from segscope.sweep import Point
from tests.conftest import FIXTURES

DUMPS: Final = {
    f"nvfuser-{path.name.split('_')[1]}": path
    for path in sorted(FIXTURES.glob("history/null_*_Llama-2-13b-hf_definition.txt"))
}
"""By toolchain."""


def from_history(point: Point) -> Capture:
    """Return the dump that is kept of a point's toolchain; of those without one, none."""
    if point.toolchain not in DUMPS:
        raise CaptureError(f"no dump of {point.toolchain} is kept")
    return read(DUMPS[point.toolchain])
