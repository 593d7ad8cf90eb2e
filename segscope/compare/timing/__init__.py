"""Kernel times that were measured, put onto the kernel groups of a fusion.

``read`` takes what torch.profiler, nvFuser's profiler or Nsight wrote, ``assign`` says which fusion of a capture each
kernel is of, and ``overlay`` lays times onto groups.

nvFuser's profiler (``PythonProfiler``) and torch.profiler must not run in one process: CUPTI takes one subscriber, and
nvFuser ends the process when it is refused. Times from Nsight Compute are longer than others: it locks the clock of the
GPU and empties the caches before each kernel, unless told otherwise (``--clock-control none --cache-control none``).
"""

from segscope.compare.timing.assign import assign
from segscope.compare.timing.model import GroupTime, KernelTime, KernelTimes, Overlay
from segscope.compare.timing.overlay import overlay
from segscope.compare.timing.reading import from_profiles, read

__all__ = ["GroupTime", "KernelTime", "KernelTimes", "Overlay", "assign", "from_profiles", "overlay", "read"]
