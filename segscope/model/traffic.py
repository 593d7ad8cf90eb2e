"""What kernels read and write of what lies in memory, through views of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from segscope.model.fusion import Group, SegmentedFusion


class Traffic(NamedTuple):
    """The bytes that a kernel reads and writes, each once, by the tensor that lies in memory; None: not known."""

    reads: dict[str, int | None]
    writes: dict[str, int | None]

    @property
    def bytes_read(self) -> int | None:
        """Of all tensors together; None where it is not known of one."""
        return total(self.reads.values())

    @property
    def bytes_written(self) -> int | None:
        """Of all tensors together; None where it is not known of one."""
        return total(self.writes.values())


def total(sizes: Iterable[int | None]) -> int | None:
    """Return the sum of sizes; None where one is not known."""
    whole = 0
    for size in sizes:
        if size is None:
            return None
        whole += size
    return whole


def traffic(fusion: SegmentedFusion) -> dict[int, Traffic]:
    """Return by index what each kernel group reads and writes, also through views that metadata groups make."""
    stored = [*fusion.inputs, *(name for group in fusion.kernel_groups for name in group.outputs)]
    place = {name: position for position, name in enumerate(dict.fromkeys(stored)) if name in fusion.tensors}
    size = {name: tensor.stored_bytes for name, tensor in fusion.tensors.items()}
    sources = _sources(fusion)
    return {group.index: _traffic(group, sources, size, place) for group in fusion.kernel_groups}


def bytes_read(
    stored: str, views: Mapping[str, Sequence[str]], size: Mapping[str, int | None], read: Collection[str]
) -> int | None:
    """Return the bytes of ``stored`` that a kernel reads, each counted once.

    ``views`` leads from a value to those that are views of it, ``size`` has the bytes of each value's elements, and
    ``read`` are the values that the kernel reads element by element. Views of one value are taken to be apart, as those
    of a split are, unless they are together more than it: then they are all of it. None where the size of a value that
    is read is not known.
    """
    found: dict[str, int | None] = {}
    for name in _views_first(stored, views, read):
        whole = size.get(name)
        if name in read:
            found[name] = whole
        else:
            together = total(found.get(view, 0) for view in views.get(name, ()))
            found[name] = together if whole is None or together is None else min(whole, together)
    return found[stored]


def _traffic(
    group: Group, sources: Mapping[str, Sequence[str]], size: Mapping[str, int | None], place: Mapping[str, int]
) -> Traffic:
    views: dict[str, list[str]] = {}
    stored: dict[str, None] = {}
    names = [name for name in dict.fromkeys(group.inputs) if name in size]
    seen = set(names)
    while names:
        name = names.pop()
        of = sources.get(name, ())
        if name in place or not of:
            stored[name] = None
        else:
            for source in of:
                views.setdefault(source, []).append(name)
            names += [source for source in of if source not in seen]
            seen.update(of)
    read = frozenset(group.inputs)
    in_order = sorted(stored, key=lambda name: place.get(name, len(place)))
    reads = {name: count for name in in_order if (count := bytes_read(name, views, size, read)) != 0}
    return Traffic(reads, {name: size[name] for name in group.outputs if name in size})


def _sources(fusion: SegmentedFusion) -> dict[str, tuple[str, ...]]:
    """Return what each tensor is a view of that a group makes which launches no kernel."""
    return {
        name: expr.tensor_inputs
        for group in fusion.groups
        if not fusion.launches_kernel(group)
        for expr in fusion.exprs_of(group)
        for name in expr.tensor_outputs
    }


def _views_first(stored: str, views: Mapping[str, Sequence[str]], read: Collection[str]) -> Iterator[str]:
    """Yield a value behind its views, as far as none of them is read; in a damaged dump they may go in a circle."""
    entered: set[str] = set()
    waiting: list[tuple[str, bool]] = [(stored, False)]
    while waiting:
        name, views_done = waiting.pop()
        if views_done or (name in read and name not in entered):
            yield name
        elif name not in entered:
            waiting.append((name, True))
            waiting += [(view, False) for view in views.get(name, ())]
        entered.add(name)
