"""What the model says that kernels read and write, against what an H200 moved (fixtures/traces, Nsight Compute)."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable

import pytest

from segscope.model import Capture, Group, SegmentedFusion
from tests.conftest import FIXTURES

UNITS = {"byte": 1, "Kbyte": 10**3, "Mbyte": 10**6, "Gbyte": 10**9}
SLACK = 4_000
"""Bytes that a kernel reads besides its tensors: its code and arguments."""
READS_MORE = {
    ("Llama-3-8B_bookend0_forward", 0, "g3"): 3.7,
    ("phi-2_bookend0_forward+backward", 0, "g3"): 1.2,
    ("phi-2_bookend0_forward+backward", 0, "g4"): 1.2,
}
"""How many times the bytes of the model a kernel reads, where it is not once: the model counts each element once."""


def measured(name: str) -> list[tuple[str, dict[str, float]]]:
    """Return the kernels in the order of their launches, each with bytes by the name of the metric."""
    kernels: dict[str, tuple[str, dict[str, float]]] = {}
    with gzip.open(FIXTURES / f"traces/h200_ncu-dram_{name}.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            _, values = kernels.setdefault(row["ID"], (row["Kernel Name"], {}))
            if unit := UNITS.get(row["Metric Unit"]):
                values[row["Metric Name"]] = float(row["Metric Value"].replace(",", "")) * unit
    return list(kernels.values())


@pytest.mark.parametrize(
    ("trace", "dump"),
    [
        ("Llama-2-13b-hf_forward+backward", "Llama-2-13b-hf_bookend0_forward+backward"),
        ("Llama-2-13b-hf_resize-off_forward+backward", "Llama-2-13b-hf_bookend0_resize-off_forward+backward"),
        ("Llama-3-8B_forward+backward", "Llama-3-8B_bookend0_forward"),
        ("phi-2_forward+backward", "phi-2_bookend0_forward+backward"),
        ("tiny-llama-1.1b_forward", "tiny-llama-1.1b_bookend0_forward"),
    ],
)
def test_an_h200_moves_what_the_model_says(trace: str, dump: str, fixture_capture: Callable[[str], Capture]) -> None:
    left = measured(trace)
    for fusion in fixture_capture(f"h200_0.2.36_{dump}").fusions:
        launched, left = left[: fusion.count()], left[fusion.count() :]
        for name, moved in launched:
            group = _of(name, fusion)
            reads, writes = fusion.traffic(group).bytes_read, fusion.traffic(group).bytes_written
            assert reads is not None
            assert writes is not None
            more = READS_MORE.get((dump, fusion.index, group.label), 1.0)
            assert 0.99 * more * reads <= moved["dram__bytes_read.sum"] <= 1.04 * more * reads + SLACK
            assert moved["dram__bytes_write.sum"] <= 1.04 * writes + SLACK  # what is in the L2 cache is written later
    assert not left or "Llama-3-8B" in dump


def _of(kernel: str, fusion: SegmentedFusion) -> Group:
    return next(group for group in fusion.kernel_groups if f"_{group.label}(" in kernel and group.scheduler in kernel)
