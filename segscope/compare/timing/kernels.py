"""What the names of nvFuser's kernels say, and many launches as one time.

The arguments in a name are the inputs and the outputs of the group, then buffers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from segscope.compare.timing.model import KernelTime
from segscope.vocabulary import KERNEL_NAME

_NAME: Final = re.compile(KERNEL_NAME)
_TENSOR: Final = re.compile(r"Tensor<[^,]*, (?:\(int\))?(\d{1,3})")

_Key = tuple[str, tuple[int, ...] | None]
"""A kernel's name and the ranks of its arguments."""


class Launch(NamedTuple):
    """A kernel that was launched, or the median of some launches."""

    name: str
    """As written, with its arguments where they are written too."""
    us: float
    times: int = 1


def has_group(name: str) -> bool:
    """Say whether a kernel's name says which group it is of."""
    return _NAME.search(name) is not None


def collect(launches: Iterable[Launch]) -> tuple[KernelTime, ...]:
    """Return the time of each of nvFuser's kernels, in the order given; other kernels are left out."""
    samples: dict[_Key, list[Launch]] = {}
    found: dict[_Key, re.Match[str]] = {}
    for launch in launches:
        if name := _NAME.search(launch.name):
            key = (name[0], _ranks(launch.name[name.end() :]))
            found.setdefault(key, name)
            samples.setdefault(key, []).append(launch)
    return tuple(_kernel(key, found[key], samples[key]) for key in found)


def _kernel(key: _Key, name: re.Match[str], launches: Sequence[Launch]) -> KernelTime:
    return KernelTime(
        name=key[0],
        scheduler=name["scheduler"],
        program=(int(name["fusion"]), int(name["concretization"]), int(name["runtime"])),
        group=int(name["group"]),
        ranks=key[1],
        us=median(launches),
        launches=sum(launch.times for launch in launches),
    )


def median(launches: Sequence[Launch]) -> float:
    """Return the median time, each launch counted as often as it stands for."""
    ordered = sorted(launches, key=lambda launch: launch.us)
    total = sum(launch.times for launch in ordered)
    return (_at(ordered, (total - 1) // 2) + _at(ordered, total // 2)) / 2


def _at(ordered: Sequence[Launch], place: int) -> float:
    for launch in ordered:
        place -= launch.times
        if place < 0:
            break
    return launch.us


def _ranks(arguments: str) -> tuple[int, ...] | None:
    """Return the ranks in ``(nvf::Tensor<nvf::__bfloat, 4, 4>, ...)``; None where the arguments are not all there."""
    whole = arguments.startswith("(") and arguments.rstrip().endswith(")")
    return tuple(sorted(int(rank) for rank in _TENSOR.findall(arguments))) if whole else None
