"""Run one executor on a workload, in a toolchain's child process."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from segscope import __version__, dump
from segscope.capture.run import Finished, Request, execute, printed
from segscope.capture.toolchain import Toolchain, ToolchainSpec, get, names
from segscope.compare.executors.model import Direction, Run, Timing
from segscope.compare.executors.records import read_pass
from segscope.errors import NoDumpError
from segscope.model import Capture

_WORKLOAD: Final = Path(__file__).parent.parent.parent / "capture" / "workloads" / "executors"

_NO_TRITON: Final = "Cannot find a working triton installation"
"""What Inductor says (torch/_inductor/scheduler.py, torch/_inductor/exc.py)."""

CALLS: Final = 100
"""Calls that a time is the median of."""


@dataclass(frozen=True)
class Workload:
    """What executors run: RoPE, or a function or module."""

    name: str
    kind: str
    """``rope`` or ``function``: the file of ``capture/workloads`` that makes it."""
    options: dict[str, str | int | bool | None]
    carried: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where executors run."""

    toolchain: str | None
    device: str
    card: str
    timeout: float


def run_executor(workload: Workload, executor: str, *, grad: bool, place: Place) -> Run:
    """Run a workload through one executor, forward and, with ``grad``, backward, and return what was recorded.

    However the child ends, what it recorded until then is there, and ``Run.problem`` says what is missing.

    Raises:
        ToolchainError, DeviceError: the toolchain or device cannot be had.
    """
    finished, records = _run(workload, executor, grad=grad, place=place)
    passes = []
    wanted: tuple[Direction, ...] = get_args(Direction) if grad else ("forward",)
    for direction in wanted:
        if direction in records:
            warm, times = records.get("warm", {}), records.get("times", {}).get(direction, {})
            one = read_pass(direction, records[direction], _capture(finished, direction), warm.get(direction, ()))
            update: dict[str, Any] = {
                "timings": tuple(Timing.model_validate(timing) for timing in times.get("timings", ())),
                "errors": tuple(times.get("errors", ())),
                "tuned": times.get("tuned", {}),
            }
            if direction == "forward":
                update |= {name: tuple(warm.get(name, ())) for name in ("saved", "saved_as_is")}
            passes.append(type(one).model_validate(one.model_dump() | update))
    card = finished.record.get("card") or (finished.device.card.name if finished.device.card else "")
    return Run(
        executor=executor,
        toolchain=finished.chain.name,
        versions={"segscope": __version__, **finished.record.get("versions", {})},
        device=finished.device.kind,
        card=card,
        end=finished.end,
        passes=tuple(passes),
        problem=_problem(finished, len(passes) == len(wanted) and "warm" in records),
    )


def run_ablation(
    workload: Workload, executor: str, *, grad: bool, direction: Direction, edits: tuple[str, ...], place: Place
) -> tuple[list[dict[str, Any]], str | None]:
    """Compile an executor's graphs again without one thing at a time; return the rows, and what went wrong."""
    finished, records = _run(workload, executor, grad=grad, place=place, ablate=direction, edits=edits)
    rows = records.get("ablation", {}).get("rows", [])
    return rows, _problem(finished, "ablation" in records)


def _run(
    workload: Workload,
    executor: str,
    *,
    grad: bool,
    place: Place,
    ablate: Direction | None = None,
    edits: tuple[str, ...] = (),
) -> tuple[Finished, dict[str, Any]]:
    """Run the child; return how it ended, and the records of its phases by their names."""
    with tempfile.TemporaryDirectory(prefix="segscope-") as results:
        request = Request(
            workload=f"{workload.name} by {executor}{f', {ablate} without one thing at a time' if ablate else ''}",
            file=_WORKLOAD,
            options=workload.options | {"executor": executor, "grad": grad, "workload": workload.kind},
            dump=("segmenter_logging",),
            carried=workload.carried | {"ablate": ablate, "edits": list(edits), "calls": CALLS, "results": results},
        )
        finished = execute(
            request, toolchain=place.toolchain, device=place.device, card=place.card, timeout=place.timeout
        )
        files = sorted(Path(results).glob("*.json"))
        return finished, {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _capture(finished: Finished, direction: Direction) -> Capture | None:
    """Return what nvFuser printed during the first call in a direction, if it did."""
    text = printed(finished.stdout, finished.record, [direction])
    try:
        return dump.parse(text, f"{direction} in {finished.chain.name}")
    except NoDumpError:
        return None


def _problem(finished: Finished, whole: bool) -> str | None:
    end = finished.end
    if whole and end.outcome == "ok":
        return None
    if end.outcome == "timed out":
        return f"was {end.message}"
    if end.message and _NO_TRITON in end.message:
        return _no_triton(finished.chain)
    how = {"error": "failed", "crashed": f"was ended by {end.signal}", "ok": "stopped early"}
    message = end.message.removeprefix("ValueError: ") if end.message else ""
    return f"{how[end.outcome]}{f': {message}' if message else ''}"


def _no_triton(chain: Toolchain) -> str:
    """Say where Inductor can make kernels, as it cannot in this toolchain."""
    have = [name for name in names() if isinstance(spec := get(name), ToolchainSpec) and spec.version("triton") != "-"]
    into = "" if chain.managed else "install the triton that its torch requires, or "
    return f"toolchain {chain.name} has no Triton that works: {into}use one that has: {', '.join(have)}"
