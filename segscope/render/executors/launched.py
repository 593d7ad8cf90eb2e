"""Which launches of a pass are kernels of its regions, and which are torch's own."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from segscope.compare.executors.model import Pass
from segscope.compare.executors.region import Kernel, Region
from segscope.vocabulary import KERNEL_NAME

_NVFUSER: Final = re.compile(KERNEL_NAME)
_TORCH: Final = re.compile(r"(\w+?)_kernel_cuda|CUDAFunctor_(\w+)|\b(?!Binary|Unary)(\w+?)_?[Ff]unctor\b")
"""What an element-wise or reducing kernel of torch does, somewhere in its name."""


class Launched(NamedTuple):
    """A kernel of a region, and how it is launched."""

    kernel: Kernel
    launch: str | None
    """The name of the launch; None where there is none, or where it is not known which of several it is."""
    us: float | None
    """Median time of all launches of that name, with a warm L2 cache; None where it was not timed."""
    launches: int
    """How many there are of that name."""


class Launches(NamedTuple):
    """All launches of a pass."""

    regions: tuple[tuple[Region, tuple[Launched, ...]], ...]
    """The kernels of each region in the order of their first launch; those that are not launched are last."""
    torch: tuple[str, ...]
    """Launches that are no kernel of a region, in order."""


def launched(one: Pass) -> Launches:
    """Tell a pass's launches apart.

    A name that several kernels have is launched for one after the other, in the order of regions.
    """
    homes = [(place, kernel) for place, region in enumerate(one.regions) for kernel in region.kernels]
    first: dict[int, int] = {}
    torch = []
    for place, launch in enumerate(one.launches):
        fitting = [number for number, (_, kernel) in enumerate(homes) if _is(kernel, launch)]
        free = [number for number in fitting if number not in first]
        if free:
            first[free[0]] = place
        elif not fitting:
            torch.append(launch)
    order = sorted(range(len(homes)), key=lambda number: first.get(number, len(one.launches)))
    regions = tuple(
        (region, tuple(_launched(one, homes[n][1], first.get(n)) for n in order if homes[n][0] == place))
        for place, region in enumerate(one.regions)
    )
    return Launches(regions, tuple(torch))


def torch_kernels(names: tuple[str, ...]) -> Counter[str]:
    """Count torch's kernels by what they do, as far as their names say it: ``mul``, ``direct_copy``, ..."""
    return Counter(_short(name) for name in names)


def _is(kernel: Kernel, launch: str) -> bool:
    if kernel.name == launch:
        return True
    found = _NVFUSER.search(launch)
    if found is None:
        return False
    if kernel.name.startswith("#"):
        return kernel.scheduler == found["scheduler"]
    return kernel.name == f"g{found['group']}"


def _launched(one: Pass, kernel: Kernel, place: int | None) -> Launched:
    alike = [other for other in one.kernels if other.scheduler == kernel.scheduler]
    if place is None or (kernel.name.startswith("#") and len(alike) > 1):
        return Launched(kernel, None, None, 0)
    launch = one.launches[place]
    us = next((timing.each_us.get(launch) for timing in one.timings if timing.l2 == "warm"), None)
    return Launched(kernel, launch, us, one.launches.count(launch))


def _short(name: str) -> str:
    if found := _TORCH.search(name):
        return next(word for word in found.groups() if word).lower()
    plain = re.sub(r"\(anonymous namespace\)::", "", name.removeprefix("void "))
    return re.split(r"[<(]", plain, maxsplit=1)[0].rsplit("::", 1)[-1]
