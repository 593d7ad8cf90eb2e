"""Comparisons to draw: two that were run, and how they were made small.

``segscope executors rope ... --format json | python -m tests.render.executors.samples fixtures/executors/NAME.json.gz``
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from segscope.compare.executors import read
from segscope.compare.executors.model import Comparison, Direction, Pass, Run
from segscope.compare.executors.region import Kernel, Region
from segscope.model import ChildEnd

FOLDER = Path(__file__).parents[3] / "fixtures" / "executors"
TODAY, THUNDER_711 = "tiny-llama-1.1b", "thunder-711"
NAMES = (TODAY, THUNDER_711)


def real(name: str) -> Comparison:
    return read(FOLDER / f"{name}.json.gz")


def trimmed(comparison: Comparison) -> Comparison:
    """Leave out traces and dumps, which are long and name files of the machine."""
    for direction in get_args(Direction):
        comparison = with_all(comparison, direction, traces=(), capture=None)
    return comparison


def kernel(name: str, *work: tuple[str, int], scheduler: str = "triton", kinds: Iterable[str] = ()) -> Kernel:
    names = tuple(kinds) or tuple(dict.fromkeys(kind for kind, _ in work))
    return Kernel(name=name, scheduler=scheduler, operations=(), kinds=names, work=work, reads=(), writes=())


def region(*kernels: Kernel, name: str = "graph0", segments: int | None = None) -> Region:
    compiler = "inductor" if segments is None else "nvfuser"
    return Region.model_validate(
        {"name": name, "compiler": compiler, "outputs": (0,), "saved": (), "segments": segments, "kernels": kernels}
    )


def forward(*regions: Region, launches: Iterable[str] = (), **fields: object) -> Pass:
    facts = {"direction": "forward", "regions": regions, "launches": tuple(launches), "least_bytes": 8_000_000}
    return Pass.model_validate({**facts, "inputs": (), "outputs": (), **fields})


def run(executor: str, *passes: Pass, **fields: object) -> Run:
    place = {"toolchain": "nvfuser-0.2.36", "versions": {"torch": "2.10.0"}, "device": "cuda", "card": "NVIDIA H200"}
    end = ChildEnd(outcome="ok")
    return Run.model_validate({"executor": executor, **place, "end": end, "passes": passes, **fields})


def comparison(*runs: Run) -> Comparison:
    return Comparison(workload="a workload", options={}, grad=False, runs=runs)


def with_all(one: Comparison, direction: Direction, **fields: object) -> Comparison:
    """Change fields of each run's pass of a direction."""
    runs = [
        run.model_copy(
            update={"passes": tuple(p.model_copy(update=fields) if p.direction == direction else p for p in run.passes)}
        )
        for run in one.runs
    ]
    return one.model_copy(update={"runs": tuple(runs)})


if __name__ == "__main__":
    small = trimmed(Comparison.model_validate_json(sys.stdin.read()))
    Path(sys.argv[1]).write_bytes(gzip.compress(small.model_dump_json().encode(), 9, mtime=0))
