"""What a scheduler's refusal is about: a category for each text that nvFuser prints (docs/dump-format.md 3.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

CATEGORIES: Final[tuple[tuple[str, str], ...]] = (
    ("must be fusion input", "boundary"),
    ("must be fusion output", "boundary"),
    ("Resize between reference and output not allowed", "resize"),
    ("No resize op to schedule", "nothing to do"),
    ("Resize to a broadcast ID is not allowed", "resize"),
    ("Resize of a broadcast ID is not allowed", "resize"),
    ("has resize-based ops and index ops", "resize"),
    ("cyclic reshapes", "reshape"),
    ("incompatible reshapes", "reshape"),
    ("view being reversible", "reshape"),
    ("View may interfere", "reshape"),
    ("cannot find reference tensor", "reference"),
    ("No reference found", "reference"),
    ("Output contains ID that's not scheduled by reference", "reference"),
    ("Broadcasting dimension might be broadcasting to multiple sizes", "broadcast"),
    ("Connected fusion graph check failed", "connected"),
    ("Iter domain graph check failed", "iter domains"),
    ("global buffer requirement", "buffers"),
    ("persistent buffer", "buffers"),
    ("must contain only a single expression", "nothing to do"),
    ("output has a concrete dimension", "nothing to do"),
    ("No matmul patterns", "nothing to do"),
    ("No reduction op to schedule", "nothing to do"),
    ("needs a reduction op", "nothing to do"),
    ("cannot find two mismatching inner most dimensions", "nothing to do"),
    ("No specific op for the greedy scheduler", "nothing to do"),
    ("Expected the expression to be resharding", "nothing to do"),
    ("Expected only one expression", "nothing to do"),
    ("no support for reduction ops", "reduction"),
    ("No support for reduction ops", "reduction"),
    ("reduction of non-zero elements", "reduction"),
    ("reduction root size", "reduction"),
    ("multi-reduction", "reduction"),
    ("reduction type", "reduction"),
    ("post reduction", "reduction"),
    ("before reduction", "reduction"),
    ("before normalization", "reduction"),
    ("ranspose-like patterns", "transpose"),
    ("on inner dim is not supported", "transpose"),
    ("unsupported ops", "operation"),
    ("gather ops", "operation"),
    ("Matmul ops are not supported", "operation"),
    ("sub-byte", "operation"),
    ("resharding", "device"),
    ("current device is cc", "device"),
    ("Disabled", "disabled"),
    ("was disabled by", "disabled"),
)
"""Part of a reason, and its category; the first that occurs in the reason decides."""


@lru_cache(maxsize=4096)
def category(reason: str) -> str:
    """Return what a refusal is about, ``other`` where its text is not known."""
    return next((name for part, name in CATEGORIES if part in reason), "other")
