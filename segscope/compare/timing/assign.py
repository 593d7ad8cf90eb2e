"""Which fusion of a capture each kernel is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from segscope.compare.timing.model import KernelTime, KernelTimes
from segscope.errors import SegscopeError
from segscope.model import Group, SegmentedFusion
from segscope.vocabulary import OWN_KERNEL


def assign(fusions: Sequence[SegmentedFusion], times: KernelTimes, number: int | None = None) -> dict[int, KernelTimes]:
    """Return the times of each fusion's kernels, by the fusion's index; a fusion without any is not there.

    Where as many programs (``KernelTime.program``) were launched as fusions have kernels of nvFuser, the first one's
    kernels are of the first such fusion, and so on, as long as they fit: a kernel fits a group of its number and
    scheduler that reads and writes tensors of the same ranks. Otherwise each kernel is of the one fusion with a group
    that it fits, which may be none. ``number`` says by its index which fusion those are of that fit several.

    Raises SegscopeError for a kernel that fits several fusions where ``number`` names none.
    """
    candidates = [fusion for fusion in fusions if any(map(is_named, fusion.kernel_groups))]
    programs: dict[tuple[int, int, int], list[KernelTime]] = {}
    for kernel in times.kernels:
        programs.setdefault(kernel.program, []).append(kernel)
    if len(programs) == len(candidates):
        pairs = list(zip(candidates, programs.values(), strict=True))
        if all(fits(kernel, fusion) for fusion, kernels in pairs for kernel in kernels):
            return {fusion.index: _only(times, kernels) for fusion, kernels in pairs}
    found: dict[int, list[KernelTime]] = {}
    for kernel in times.kernels:
        fitting = [fusion.index for fusion in candidates if fits(kernel, fusion)]
        if len(fitting) > 1:
            if number is None:
                several = " or ".join(map(str, fitting))
                raise SegscopeError(f"{times.source}: {kernel.name} may be of fusion {several}: choose with --fusion")
            fitting = [number] if number in fitting else []
        for index in fitting:
            found.setdefault(index, []).append(kernel)
    return {index: _only(times, kernels) for index, kernels in found.items()}


def is_named(group: Group) -> bool:
    """Say whether a kernel of the group bears its number: those of ATen and NCCL do not."""
    return group.scheduler not in OWN_KERNEL


def fits(kernel: KernelTime, fusion: SegmentedFusion) -> bool:
    """Say whether the kernel may be that of a group of the fusion."""
    return any(fits_group(kernel, fusion, group) for group in fusion.kernel_groups)


def fits_group(kernel: KernelTime, fusion: SegmentedFusion, group: Group) -> bool:
    """Say whether the kernel may be the group's: by group id, scheduler, and the ranks of its tensors.

    A kernel may have more arguments of one dimension: buffers of a reduction across blocks.
    """
    if (kernel.group, kernel.scheduler) != (group.id, group.scheduler):
        return False
    if kernel.ranks is None:
        return True
    tensors = (fusion.tensors[name] for name in (*group.inputs, *group.outputs) if name in fusion.tensors)
    needed, given = Counter(len(tensor.shape) for tensor in tensors), Counter(kernel.ranks)
    return not needed - given and set(given - needed) <= {1}


def _only(times: KernelTimes, kernels: Iterable[KernelTime]) -> KernelTimes:
    return times.model_copy(update={"kernels": tuple(kernels)})
