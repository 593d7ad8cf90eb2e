"""Times of kernels, and of the groups that they are of."""

from __future__ import annotations

from segscope.model.base import Model


class KernelTime(Model):
    """How long one of nvFuser's kernels takes."""

    name: str
    """``nvfuser_resize_f0_c1_r0_g4``."""
    scheduler: str
    """As in the name."""
    program: tuple[int, int, int]
    """The fusion's number (``f``), that of the concretization (``c``) and of the runtime (``r``): what was segmented
    together has the same three. Two fusions may have them too: ``nvfuser_direct`` numbers every fusion 0."""
    group: int
    """The group id (``g``)."""
    ranks: tuple[int, ...] | None
    """How many dimensions its tensor arguments have, in ascending order; None where only the name is known."""
    us: float
    """Median of its launches, in microseconds."""
    launches: int
    """How often it was launched."""


class KernelTimes(Model):
    """The times of nvFuser's kernels in one file."""

    source: str
    """The file."""
    kernels: tuple[KernelTime, ...]
    """Each name with its arguments once, in the order in which they were first launched, as far as the file has it."""


class GroupTime(Model):
    """How long the kernel of a group takes."""

    group: int
    """Index of the group."""
    kernel: str
    """Its name."""
    us: float
    """Median of the launches, in microseconds."""
    launches: int
    """How often it was launched."""
    share: float
    """Of the time of the fusion's kernels, 0 to 1."""
    bytes_read: int | None
    """As ``bytes_written``."""
    bytes_written: int | None
    """Bytes of the elements that it touches in memory, each counted once, also through views that metadata groups made;
    of what it slices itself all counts. None where the dump gives no numbers."""

    @property
    def bandwidth(self) -> float | None:
        """Bytes read and written over the time, in GB/s (10^9 bytes). What the L2 cache holds comes faster than memory
        could give it. None where bytes or time are not known."""
        if self.bytes_read is None or self.bytes_written is None or not self.us:
            return None
        return (self.bytes_read + self.bytes_written) / self.us / 1000


class Overlay(Model):
    """Times on the kernel groups of a fusion."""

    fusion: int
    """Position of the fusion in its capture."""
    source: str
    """The file that the times are from."""
    groups: tuple[GroupTime, ...]
    """In the order of the groups."""
    untimed: tuple[int, ...]
    """Indices of the kernel groups of which the file has no kernel."""
    notes: tuple[str, ...] = ()
    """What makes the times doubtful, in one line each."""

    @property
    def us(self) -> float:
        """The sum of the medians, in microseconds."""
        return sum(time.us for time in self.groups)

    def get(self, group: int) -> GroupTime | None:
        """Return the time of the group of that index."""
        return next((time for time in self.groups if time.group == group), None)
