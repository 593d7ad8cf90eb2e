"""Real dumps, with the versions that made them, and whether a segmentation is the same as another one."""

from __future__ import annotations

import re
from pathlib import Path

from segscope.compare.diff import diff
from segscope.dump import read
from segscope.model import SegmentedFusion
from segscope.segmenter import Version, version
from tests.conftest import FIXTURES


def read_fusions(path: Path) -> tuple[SegmentedFusion, ...]:
    return read(path).fusions


def version_of(path: Path) -> Version:
    """The version in the name of a fixture, without the resize scheduler where it was disabled."""
    match = re.search(r"_(0\.\d+\.\d+(?:\.dev\d+)?)_", path.name)
    assert match, path
    found = version(match[1])
    return found.having("resize_scheduler", False) if "resize-off" in path.name else found


def one(name: str) -> SegmentedFusion:
    (fusion,) = read_fusions(FIXTURES / f"{name}.txt")
    return fusion


def differences(real: SegmentedFusion, simulated: SegmentedFusion) -> list[str]:
    """What differs between two segmentations, but for numbers, order, and which scheduler makes a kernel."""
    (found,) = diff(real, simulated).fusions
    assert found.same_computation
    return [str(change) for change in found.changes if change.kind != "scheduler changed"]


def groups(fusion: SegmentedFusion) -> list[tuple[str, ...]]:
    """The tensors that each group defines."""
    return sorted(tuple(sorted(n for e in fusion.exprs_of(g) for n in e.tensor_outputs)) for g in fusion.groups)
