"""Executors to compare, edits of their graphs, and comparisons that were reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

REFERENCE: Final = "torch.compile"
"""The executor that the others are explained against."""

EXECUTORS: Final = ("eager", REFERENCE, "thunder+nvfuser", "thunder+torch.compile")
"""The executors that are compared where none are named."""


@dataclass(frozen=True)
class Case:
    """A comparison that was reported, with what reproduces it. Gradients are asked for."""

    toolchain: str
    config: str
    executors: tuple[str, ...]


CASES: Final = {
    # https://github.com/Lightning-AI/lightning-thunder/issues/711
    "thunder-711": Case(
        toolchain="thunder-711",
        config="tiny-llama-1.1b",
        executors=(REFERENCE, "thunder+torch.compile", "thunder+torch.compile_cat+nvfuser"),
    )
}

EDITS: Final = (
    "save-upcasts",
    "nothing-saved",
    "save-only",
    "no-empty-cat",
    "no-float32",
    "split-as-slices",
    "no-expand",
    "no-sharing",
)
"""The edits of ``capture/workloads/executors/edits.py``; behind ``save-only`` stand a colon and an output's name."""
