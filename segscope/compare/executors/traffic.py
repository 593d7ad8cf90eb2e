"""How much a kernel reads of what lies in memory, through views of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


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
    parts = [bytes_read(view, views, size, read) for view in views.get(stored, ())]
    if None in parts:
        return None
    together = sum(part for part in parts if part is not None)
    return together if whole is None else min(whole, together)
