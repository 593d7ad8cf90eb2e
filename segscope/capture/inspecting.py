"""Read the segments of a function that Thunder has compiled in this process, without NVFUSER_DUMP."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from segscope import __version__, dump
from segscope.capture import scheduled_ir
from segscope.capture.one_group import one_group
from segscope.capture.toolchain import CURRENT
from segscope.capture.worker import package_versions
from segscope.errors import CaptureError
from segscope.model import Capture, ChildEnd, Provenance

_END: Final = "} //Segmented_Fusion"


def inspect_function(jitted: Any) -> Capture:
    """Return the segments of every nvFuser region of a ``thunder.jit`` function or module, as of its last call.

    They are read from nvFuser's executor cache (``getMostRecentScheduledIr``), which prints segments as the dump does,
    where there are several. Of a region that was not segmented it prints the scheduled kernel only; its one group is
    then made of the definition that Thunder handed over, before nvFuser's own passes, with the scheduler from the
    kernel's name and ids in the order of the text. ``capture.provenance.notes`` say which regions those are, and which
    could not be read: that have not run, or of which there is no kernel. nvFuser of 2024 does not say in this way what
    a segmented fusion's inputs and outputs are: those of its ``fusions`` are empty then.

    Raises CaptureError for a function that Thunder has not compiled or that was not called, and where no region can be
    read.
    """
    try:
        regions = scheduled_ir.regions(jitted)
    except TypeError as error:
        raise CaptureError(f"inspect: {error}") from None
    name = getattr(jitted, "__name__", type(jitted).__name__)
    return capture_of(regions, name).model_copy(update={"provenance": _provenance(name, tuple(notes(regions)))})


def capture_of(regions: Iterable[Mapping[str, str]], name: str) -> Capture:
    """Return the capture of what ``scheduled_ir.py`` collected, without provenance.

    CaptureError where no region can be read.
    """
    regions = list(regions)
    text = "\n".join(filter(None, map(_segments, regions)))
    if not text:
        why = "; ".join(notes(regions)) or "Thunder gave nvFuser nothing to do"
        raise CaptureError(f"inspect: no nvFuser region of {name} can be read: {why}")
    return dump.parse(text, f"{name} in this process").model_copy(update={"dump": text})


def notes(regions: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yield what a reader should know of regions that were not segmented, or of which nothing is known."""
    for region in regions:
        if _END in region.get("scheduled", ""):
            continue
        if _segments(region):
            yield f"{region['name']} was not segmented: its group is its definition, before nvFuser's own passes"
        elif region.get("scheduled", "?").strip():
            yield f"{region['name']} is left out: {region.get('problem') or 'its definition does not fit its kernel'}"
        else:
            yield f"{region['name']} is left out: it has no kernel, which would name its scheduler"


def _segments(region: Mapping[str, str]) -> str | None:
    """Return a region's segments as nvFuser prints them, or None where they cannot be known."""
    scheduled = region.get("scheduled", "")
    if _END in scheduled:
        return scheduled[: scheduled.index(_END) + len(_END)] + "\n"
    return one_group(region.get("definition", ""), region.get("kernels", ""))


def _provenance(name: str, notes: tuple[str, ...]) -> Provenance:
    import torch

    return Provenance(
        workload=name,
        options={},
        environment={key: value for key, value in sorted(os.environ.items()) if key.startswith("NVFUSER_")},
        toolchain=CURRENT,
        versions={"segscope": __version__, "python": sys.version.split()[0], "torch": torch.__version__}
        | package_versions(),
        device="null" if "SEGSCOPE_NULL_CARD" in os.environ else "cuda",
        card=torch.cuda.get_device_name(0),
        command=(),
        end=ChildEnd(outcome="ok"),
        notes=notes,
    )
