"""Runs the same workloads on a GPU and on the null device, to compare what nvFuser prints."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from segscope.capture.definition import DEFINITIONS, capture_definition
from segscope.capture.device import choose, gpu_present
from segscope.capture.fidelity import Comparison, Fidelity, Place, compare, title
from segscope.capture.null_device import cards
from segscope.capture.options import words
from segscope.capture.processes import signals_raise
from segscope.capture.rope import capture_rope
from segscope.capture.run import Request, run
from segscope.capture.toolchain import ensure, is_managed
from segscope.dump import read
from segscope.errors import CaptureError, DeviceError, SegscopeError
from segscope.model import Capture, Provenance

CASES: Final[tuple[Callable[..., Capture], ...]] = (
    *(partial(capture_definition, name) for name in DEFINITIONS),
    partial(capture_definition, "rope", "tiny-llama-1.1b"),
    *(
        partial(capture_rope, config, direction="both", bookend=False, disable=disable)
        for config in ("Llama-2-13b-hf", "tiny-llama-1.1b", "phi-2", "falcon-7b")
        for disable in ((), ("resize_scheduler",))
    ),
)
"""What is run: functions that take ``toolchain`` and ``device``."""

REPEATS: Final = 2
"""How often each case is run on each device, to see what varies on one device."""

_WORKLOADS: Final = Path(__file__).parent / "workloads"
_FILES: Final = {"rope": _WORKLOADS / "rope.py", "definition": _WORKLOADS / "definitions"}
_AT_ONCE: Final = 8
"""Several runs share the GPU's memory."""


def on_gpu(toolchain: str, *, null_device_too: bool = False) -> tuple[list[Capture], list[str]]:
    """Run every case on the GPU of this machine; return the captures, and what kept others from being made.

    Raises SegscopeError where there is no GPU, or the toolchain cannot use it; with ``null_device_too`` also where it
    cannot have the null device, before anything is run.
    """
    if not is_managed(toolchain) and not gpu_present():
        raise DeviceError(
            "no CUDA device on this machine: run segscope verify-device --save FOLDER on one that has it, and "
            "segscope verify-device FOLDER here"
        )
    choose("cuda", toolchain, "h200")
    if null_device_too:
        try:
            choose("null", toolchain, "h200").environment({}, ensure(toolchain))
        except DeviceError as error:
            steps = "segscope verify-device --save FOLDER here, segscope verify-device FOLDER where it can be had"
            raise DeviceError(f"{error}; do it in two steps: {steps}") from None
    captures, problems = [], []
    jobs = [partial(case, toolchain=toolchain, device="cuda") for case in CASES for _ in range(REPEATS)]
    for made in _made(jobs):
        if isinstance(made, Capture):
            captures.append(made)
        else:
            problems.append(str(made))
    return captures, list(dict.fromkeys(problems))


def save(captures: Sequence[Capture], folder: Path) -> None:
    """Write each capture to a JSON file of the folder, named by what was captured, and remove those of before.

    OSError where that cannot be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("[0-9][0-9][0-9]_*.json"):
        old.unlink()
    for number, capture in enumerate(captures):
        name = re.sub(r"[^\w.=-]+", "_", title(capture))
        (folder / f"{number:03}_{name}.json").write_text(capture.model_dump_json(indent=1) + "\n", encoding="utf-8")


def saved(folder: Path) -> list[Capture]:
    """Return the captures in the JSON files of a folder. SegscopeError where there are none, or one is not readable."""
    captures = [read(file).model_copy(update={"source": str(file)}) for file in sorted(folder.glob("*.json"))]
    if not captures:
        raise SegscopeError(f"{folder}: no captures; make some on a machine with a GPU: segscope verify-device --save")
    return captures


def verify(captures: Sequence[Capture], toolchain: str) -> Fidelity:
    """Make captures of a GPU again on the null device, which plays the GPU's card, and compare.

    Captures of the same workload are runs of it.

    Raises SegscopeError for captures that are not of a GPU, or of several; where the null device cannot play its card;
    and where the toolchain cannot be had or has another nvFuser.
    """
    by_workload: dict[tuple[str, str, str], list[Capture]] = {}
    for capture in captures:
        made = _of_gpu(capture)
        by_workload.setdefault((made.workload, repr(made.options), repr(made.environment)), []).append(capture)
    first = _of_gpu(captures[0])
    _one("cards", [_of_gpu(capture).card for capture in captures])
    _one("versions of nvFuser", [_nvfuser(capture) for capture in captures])
    card = _short_name(first.card)
    choose("null", toolchain, card)
    ensure(toolchain)
    workloads = list(by_workload.values())
    again = iter(_made([partial(_again, same[0], toolchain, card) for same in workloads for _ in range(REPEATS)]))
    comparisons: list[Comparison] = []
    null: Provenance | None = None
    for same in workloads:
        found = list(islice(again, REPEATS))
        runs = [made for made in found if isinstance(made, Capture)]
        null = runs[0].provenance if runs else null
        comparisons.append(compare(same, runs, [str(made) for made in found if not isinstance(made, Capture)]))
    return Fidelity(
        card=first.card,
        gpu=Place(toolchain=first.toolchain, versions=first.versions),
        null=Place(toolchain=toolchain, versions=null.versions) if null else None,
        comparisons=tuple(comparisons),
    )


def _again(capture: Capture, toolchain: str, card: str) -> Capture:
    """Make a capture again, on the null device."""
    made = _of_gpu(capture)
    options = {name: tuple(words(value)) for name, value in made.environment.items()}
    request = Request(
        workload=made.workload,
        file=_FILES[made.workload.partition(" ")[0]],
        options=made.options,
        phases=("backward",) if made.options.get("direction") == "backward" else None,
        disable=options.get("NVFUSER_DISABLE", ()),
        enable=options.get("NVFUSER_ENABLE", ()),
        dump=options["NVFUSER_DUMP"],
    )
    again = run(request, toolchain=toolchain, device="null", card=card, timeout=600.0)
    if _nvfuser(again) != _nvfuser(capture):
        raise SegscopeError(
            f"the captures are of nvFuser {_nvfuser(capture)}, and {toolchain} has {_nvfuser(again)}: "
            "choose a toolchain that has the same"
        )
    return again


def _made(jobs: Sequence[Callable[[], Capture]]) -> list[Capture | CaptureError]:
    """Run the jobs, several at a time, and return what they made, in their order.

    The first error that is not about a child without a dump ends them all.
    """
    with signals_raise(), ThreadPoolExecutor(min(len(os.sched_getaffinity(0)), _AT_ONCE)) as pool:
        futures = [pool.submit(_attempt, job) for job in jobs]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()


def _attempt(job: Callable[[], Capture]) -> Capture | CaptureError:
    try:
        return job()
    except CaptureError as error:
        return error


def _of_gpu(capture: Capture) -> Provenance:
    made = capture.provenance
    if made is None or made.device != "cuda" or capture.dump is None:
        raise SegscopeError(f"{capture.source}: not a capture of a GPU")
    if made.workload.partition(" ")[0] not in _FILES:
        raise SegscopeError(f"{capture.source}: only RoPE and definitions can be made again")
    return made


def _one(what: str, found: Sequence[str]) -> str:
    if len(set(found)) > 1:
        raise SegscopeError(f"the captures are of several {what}: {', '.join(sorted(set(found)))}; verify each alone")
    return found[0]


def _nvfuser(capture: Capture) -> str:
    assert capture.provenance is not None
    return capture.provenance.versions.get("nvfuser", "unknown")


def _short_name(card: str) -> str:
    for short, known in cards().items():
        if known.name == card:
            return short
    names = ", ".join(known.name for known in cards().values())
    raise SegscopeError(f"the null device cannot play {card}; valid: {names}")
