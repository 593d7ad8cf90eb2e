"""Which kernels a call launches: what the null device logs, or what torch's profiler sees a GPU do."""

from __future__ import annotations

import ctypes
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KERNEL = "kernel"
GPU_WORK = (KERNEL, "gpu_memcpy", "gpu_memset")
"""Categories of what runs on a GPU, in the traces that torch's profiler writes (Kineto, ActivityType.cpp)."""

NVFUSER_KERNEL = re.compile(r"\bnvfuser_\w+")


@dataclass(frozen=True)
class Work:
    """A kernel, copy or fill that a GPU did."""

    name: str
    category: str
    """One of :data:`GPU_WORK`."""
    start: float
    """Microseconds since some point in time."""
    duration: float
    """Microseconds."""

    @property
    def end(self) -> float:
        """When it was done."""
        return self.start + self.duration


def launched(call: Callable[[], object]) -> list[str]:
    """Return the names of the kernels that are launched while ``call`` runs, in order; copies and fills are no kernels.

    Names of C++ kernels are demangled, with template arguments and parameters; nvFuser's are without namespace and
    parameters, such as ``nvfuser_resize_f0_c1_r0_g2``.
    """
    process = ctypes.CDLL(None)
    if hasattr(process, "segscope_null_launches_start"):
        return [kernel_name(name) for name in logged(process, call)]
    return [work.name for work in profiled(call) if work.category == KERNEL]


def logged(null_device: ctypes.CDLL, call: Callable[[], object]) -> list[str]:
    """Return the names that the null device logs, as they are registered."""
    null_device.segscope_null_launches_stop.restype = ctypes.c_char_p
    null_device.segscope_null_launches_start()
    try:
        call()
    finally:
        text = null_device.segscope_null_launches_stop()
    if text is None:
        raise MemoryError("the null device could not log the launches")
    names: list[str] = text.decode().splitlines()
    return names


def profiled(call: Callable[[], object]) -> list[Work]:
    """Return what the GPU does while ``call`` runs, in the order in which it starts."""
    import torch

    torch.cuda.synchronize()
    # Without the CPU's activities, which would add to the time of every operator.
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        return gpu_work(json.loads(path.read_text(encoding="utf-8")))


def gpu_work(trace: dict[str, Any]) -> list[Work]:
    """Return what a trace of torch's profiler says that the GPU did, in the order in which it starts.

    The profiler's own list of events does not tell kernels from ranges that a program has named (torch 2.4).
    """
    work = [
        Work(kernel_name(event["name"]), event["cat"], event["ts"], event["dur"])
        for event in trace["traceEvents"]
        if event.get("cat") in GPU_WORK
    ]
    return sorted(work, key=lambda item: item.start)


def kernel_name(symbol: str) -> str:
    """Return the name of a kernel by what it is registered as, or by what the profiler makes of that."""
    name = demangled(symbol) if symbol.startswith("_Z") else symbol
    of_nvfuser = NVFUSER_KERNEL.search(name)
    return of_nvfuser.group() if of_nvfuser else name


def demangled(symbol: str) -> str:
    """Return a C++ name as it is written; the symbol itself if it is none."""
    # The library that torch is linked to.
    demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    demangle.restype = ctypes.c_void_p
    text = demangle(symbol.encode(), None, None, None)
    if text is None:
        return symbol
    name = ctypes.string_at(text).decode()
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(text)
    return name
