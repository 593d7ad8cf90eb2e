"""What kernels read and write of what lies in memory, through views of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from segscope.compare.executors.region import Buffer, total
from segscope.model import SegmentedFusion


class Traffic(NamedTuple):
    """What a kernel reads and writes."""

    reads: tuple[Buffer, ...]
    writes: tuple[Buffer, ...]


def traffic(fusion: SegmentedFusion) -> list[Traffic]:
    """Return what each kernel group of a fusion reads and writes, also through views that metadata groups make."""
    stored = [*fusion.inputs, *(name for group in fusion.kernel_groups for name in group.outputs)]
    views = _views(fusion)
    size = {name: tensor.stored_bytes for name, tensor in fusion.tensors.items()}
    found = []
    for group in fusion.kernel_groups:
        read = {name: bytes_read(name, views, size, group.inputs) for name in dict.fromkeys(stored)}
        found.append(
            Traffic(
                reads=tuple(_buffers(fusion, {name: count for name, count in read.items() if count != 0})),
                writes=tuple(_buffers(fusion, {name: size.get(name) for name in group.outputs})),
            )
        )
    return found


def bytes_read(
    stored: str, views: Mapping[str, Sequence[str]], size: Mapping[str, int | None], read: Collection[str]
) -> int | None:
    """Return the bytes of ``stored`` that a kernel reads, each counted once.

    ``views`` leads from a value to those that are views of it, ``size`` has the bytes of each value's elements, and
    ``read`` are the values that the kernel reads element by element. Views of one value are taken to be apart, as those
    of a split are, unless they are together more than it: then they are all of it. None where the size of a value that
    is read is not known.
    """
    whole = size.get(stored)
    if stored in read:
        return whole
    together = total(bytes_read(view, views, size, read) for view in views.get(stored, ()))
    return together if whole is None or together is None else min(whole, together)


def _views(fusion: SegmentedFusion) -> dict[str, list[str]]:
    """Return for each tensor what groups that launch no kernel make of it: views."""
    views: dict[str, list[str]] = {}
    for group in fusion.groups:
        if not fusion.launches_kernel(group):
            for expr in fusion.exprs_of(group):
                for name in expr.tensor_inputs:
                    views.setdefault(name, []).extend(expr.tensor_outputs)
    return views


def _buffers(fusion: SegmentedFusion, sizes: Mapping[str, int | None]) -> Iterable[Buffer]:
    for name, count in sizes.items():
        if tensor := fusion.tensors.get(name):
            yield Buffer(name=name, dtype=tensor.dtype or "", bytes=count)
