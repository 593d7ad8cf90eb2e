"""Times on the kernel groups of one fusion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from segscope.compare.timing.assign import fits_group, is_named
from segscope.compare.timing.model import GroupTime, KernelTime, KernelTimes, Overlay
from segscope.errors import SegscopeError
from segscope.model import Group, SegmentedFusion


def overlay(fusion: SegmentedFusion, times: KernelTimes) -> Overlay:
    """Put times onto the kernel groups that they are of; ``times`` may hold other kernels too.

    Raises SegscopeError where no kernel is of this fusion, where two kernels may be of one group, or where the dump has
    no group ids.
    """
    if fusion.kernel_groups and all(group.id is None for group in fusion.kernel_groups):
        raise SegscopeError(
            f"fusion {fusion.index} has no group ids, by which kernels are named: "
            "nvFuser prints them since 29 July 2024"
        )
    kernels = {group.index: kernel for group in fusion.kernel_groups if (kernel := _kernel(fusion, group, times))}
    if not kernels:
        raise SegscopeError(f"{times.source}: no kernel of fusion {fusion.index}; it has {_some(times.kernels)}")
    us = sum(kernel.us for kernel in kernels.values())
    return Overlay(
        fusion=fusion.index,
        source=times.source,
        groups=tuple(
            GroupTime(
                group=index,
                kernel=kernel.name,
                us=kernel.us,
                launches=kernel.launches,
                share=kernel.us / us if us else 0.0,
                bytes_read=fusion.traffic(fusion.groups[index]).bytes_read,
                bytes_written=fusion.traffic(fusion.groups[index]).bytes_written,
            )
            for index, kernel in kernels.items()
        ),
        untimed=tuple(group.index for group in fusion.kernel_groups if group.index not in kernels),
        notes=tuple(_doubts(fusion, kernels)),
    )


def _kernel(fusion: SegmentedFusion, group: Group, times: KernelTimes) -> KernelTime | None:
    found = [kernel for kernel in times.kernels if fits_group(kernel, fusion, group)]
    if len(found) > 1:
        raise SegscopeError(
            f"{times.source}: {len(found)} kernels may be that of {group.label} of fusion {fusion.index} "
            f"({_some(found)}): measure this fusion alone"
        )
    return found[0] if found else None


def _doubts(fusion: SegmentedFusion, kernels: Mapping[int, KernelTime]) -> Iterator[str]:
    named = filter(is_named, fusion.kernel_groups)
    if missing := [group.label for group in named if group.index not in kernels]:
        yield f"fusion {fusion.index}: no kernel fits {' '.join(missing)}: are the times of the same fusion?"
    launches = sorted({kernel.launches for kernel in kernels.values()})
    if len(launches) > 1:
        often = f"{launches[0]} to {launches[-1]} times"
        yield f"fusion {fusion.index}: its kernels were launched {often}: some may be another fusion's, named alike"


def _some(kernels: Iterable[KernelTime]) -> str:
    names = list(dict.fromkeys(kernel.name for kernel in kernels))
    return ", ".join(names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"])
