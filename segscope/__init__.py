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
    from segscope.asserts import (
        assert_crossing_dtypes,
        assert_cut_between,
        assert_different_groups,
        assert_group,
        assert_groups,
        assert_kernel_groups,
        assert_no_findings,
        assert_refused,
        assert_same_group,
        assert_same_segmentation,
    )
    from segscope.capture.arguments import TensorSpec
    from segscope.capture.configs import CONFIGS as ROPE_CONFIGS
    from segscope.capture.definition import DEFINITIONS, capture_definition
    from segscope.capture.function import capture_function
    from segscope.capture.inspecting import inspect_function
    from segscope.capture.recording import record
    from segscope.capture.rope import capture_rope
    from segscope.checks import Finding, check
    from segscope.compare.diff import diff
    from segscope.compare.executors import compare_executors, compare_rope_executors
    from segscope.dump import parse, read
    from segscope.errors import CaptureError, DeviceError, NoDumpError, RenderError, SegscopeError, ToolchainError
    from segscope.model import Capture, Edge, Expr, Group, IterDomain, Provenance, SegmentedFusion, Tensor
    from segscope.render import draw

__version__ = "0.1.0"

__all__ = [
    "DEFINITIONS",
    "ROPE_CONFIGS",
    "Capture",
    "CaptureError",
    "DeviceError",
    "Edge",
    "Expr",
    "Finding",
    "Group",
    "IterDomain",
    "NoDumpError",
    "Provenance",
    "RenderError",
    "SegmentedFusion",
    "SegscopeError",
    "Tensor",
    "TensorSpec",
    "ToolchainError",
    "assert_crossing_dtypes",
    "assert_cut_between",
    "assert_different_groups",
    "assert_group",
    "assert_groups",
    "assert_kernel_groups",
    "assert_no_findings",
    "assert_refused",
    "assert_same_group",
    "assert_same_segmentation",
    "capture_definition",
    "capture_function",
    "capture_rope",
    "check",
    "compare_executors",
    "compare_rope_executors",
    "diff",
    "draw",
    "inspect_function",
    "parse",
    "read",
    "record",
]

_HOMES = {
    "DEFINITIONS": ("segscope.capture.definition", "DEFINITIONS"),
    "Finding": ("segscope.checks", "Finding"),
    "ROPE_CONFIGS": ("segscope.capture.configs", "CONFIGS"),
    "TensorSpec": ("segscope.capture.arguments", "TensorSpec"),
    "capture_definition": ("segscope.capture.definition", "capture_definition"),
    "capture_function": ("segscope.capture.function", "capture_function"),
    "capture_rope": ("segscope.capture.rope", "capture_rope"),
    "check": ("segscope.checks", "check"),
    "compare_executors": ("segscope.compare.executors", "compare_executors"),
    "compare_rope_executors": ("segscope.compare.executors", "compare_rope_executors"),
    "diff": ("segscope.compare", "diff"),
    "draw": ("segscope.render", "draw"),
    "inspect_function": ("segscope.capture.inspecting", "inspect_function"),
    "parse": ("segscope.dump", "parse"),
    "read": ("segscope.dump", "read"),
    "record": ("segscope.capture.recording", "record"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = "segscope.errors" if name.endswith("Error") else "segscope.model"
        home = "segscope.asserts" if name.startswith("assert_") else home
        home, original = _HOMES.get(name, (home, name))
        return getattr(import_module(home), original)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
