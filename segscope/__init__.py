"""See how nvFuser cuts a fusion into kernels, and why: on a machine with a GPU or without one.

import segscope

capture = segscope.capture_rope("Llama-2-13b-hf", toolchain="nvfuser-0.2.8", bookend=False)
capture.fusion.count("pointwise")   # 6
segscope.read("dump.txt").fusions   # from a file, segscope.parse(text) from text
capture.fusion                      # shows itself as a picture in a notebook
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segscope.capture.rope import capture_rope
    from segscope.dump import parse, read
    from segscope.errors import SegscopeError
    from segscope.model import Capture, Edge, Expr, Group, IterDomain, Provenance, SegmentedFusion, Tensor

__version__ = "0.1.0"

__all__ = [
    "Capture",
    "Edge",
    "Expr",
    "Group",
    "IterDomain",
    "Provenance",
    "SegmentedFusion",
    "SegscopeError",
    "Tensor",
    "capture_rope",
    "parse",
    "read",
]

_HOMES = {
    "capture_rope": "segscope.capture.rope",
    "parse": "segscope.dump",
    "read": "segscope.dump",
    "SegscopeError": "segscope.errors",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "segscope.model")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
