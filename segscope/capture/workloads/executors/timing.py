"""How long a call's kernels take on a GPU, with what it reads in the L2 cache or not."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import eq
from statistics import median
from typing import Any

from .launches import KERNEL, Work, profiled

WARM_UP = 3
"""Calls before anything is measured: compilers compile, allocators get their memory."""

L2_CACHE_SIZE = 38
"""CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE; the device properties of torch 2.4 do not have it."""

OVERWRITTEN = 4
"""How many times the size of the L2 cache is overwritten to make it cold."""


def times(call: Callable[[], object], *, calls: int = 100) -> list[dict[str, Any]]:
    """Return the fields of two ``Timing`` of ``segscope.compare.executors.model``, with a warm and with a cold L2.

    Kernels and gaps are measured by torch's profiler, on calls that follow one another without waiting for the GPU.
    Before each call of the second timing the L2 cache is overwritten. What is overwritten is not counted, but writing
    it back to memory goes on while the call's first kernel runs. The profiler makes launching slower, so where the GPU
    waits for the host, gaps are larger than without it; host times are measured without it.

    Each call must launch the same kernels; :exc:`RuntimeError` if one did not.
    """
    for _ in range(WARM_UP):
        call()
    host_us = median_host_us(call, calls)
    one_call = names(profiled(call))

    import torch

    buffer = torch.empty(OVERWRITTEN * l2_cache_bytes(torch.cuda.current_device()), dtype=torch.uint8, device="cuda")
    overwriting = names(profiled(buffer.zero_))

    def repeat() -> None:
        for _ in range(calls):
            call()

    def repeat_cold() -> None:
        for _ in range(calls):
            buffer.zero_()
            call()

    return [
        {"l2": l2, "calls": calls, **summary(split(profiled(run), before, one_call, calls)), "host_us": host_us}
        for l2, run, before in (("warm", repeat, []), ("cold", repeat_cold, overwriting))
    ]


def median_host_us(call: Callable[[], object], calls: int) -> float:
    """Return the median of microseconds for the call to return while the GPU has nothing else to do."""
    import torch

    spent = []
    for _ in range(calls):
        torch.cuda.synchronize()
        start = time.perf_counter_ns()
        call()
        spent.append(time.perf_counter_ns() - start)
    return median(spent) / 1000


def l2_cache_bytes(device: int) -> int:
    """Return the size of a device's L2 cache, from the driver."""
    size = ctypes.c_int()
    status = ctypes.CDLL("libcuda.so.1").cuDeviceGetAttribute(ctypes.byref(size), L2_CACHE_SIZE, device)
    if status != 0 or size.value <= 0:
        raise RuntimeError(f"the size of the L2 cache is not known: cuDeviceGetAttribute returned {status}")
    return size.value


def names(work: Sequence[Work]) -> list[str]:
    """Return what the work is called, in order."""
    return [item.name for item in work]


def split(work: Sequence[Work], before: Sequence[str], one_call: Sequence[str], calls: int) -> list[list[Work]]:
    """Return the work of each call: what follows ``before``.

    Work is told by its place in the order in which it starts. So all of it must be ``before`` and ``one_call``, again
    and again; :exc:`RuntimeError` if the profiler saw anything else.
    """
    period = [*before, *one_call]
    expected, seen = period * calls, names(work)
    if seen != expected:
        raise RuntimeError(
            f"{calls} calls did not launch the same kernels each: {len(expected)} launches and copies were expected, "
            f"and the profiler saw {len(seen)}, of which {sum(map(eq, seen, expected))} are those"
        )
    return [list(work[call * len(period) + len(before) : (call + 1) * len(period)]) for call in range(calls)]


def summary(calls: Sequence[Sequence[Work]]) -> dict[str, Any]:
    """Return medians over calls, in microseconds: of all kernels, of each by name, and of the gaps."""
    kernels = [[work for work in call if work.category == KERNEL] for call in calls]
    return {
        "kernel_us": median(sum(kernel.duration for kernel in call) for call in kernels),
        "each_us": {
            name: median(sum(kernel.duration for kernel in call if kernel.name == name) for call in kernels)
            for name in dict.fromkeys(names(kernels[0]))
        },
        "gap_us": median(map(gaps, calls)),
    }


def gaps(call: Sequence[Work]) -> float:
    """Return how long the GPU waited within a call: neither a kernel nor a copy nor a fill ran."""
    busy_until = accumulate((work.end for work in call), max)
    return sum(max(0.0, following.start - end) for following, end in zip(call[1:], busy_until, strict=False))
