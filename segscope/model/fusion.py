"""A fusion after segmentation: its groups, the edges between them, and what they compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field, model_validator

from segscope.model.base import Model
from segscope.model.count import Count
from segscope.model.expr import Expr
from segscope.model.log import PassChange, SegmenterLog
from segscope.model.tensor import Tensor
from segscope.model.traffic import Traffic, traffic
from segscope.model.transforms import TensorTransforms
from segscope.vocabulary import check_scheduler, launches_kernel

if TYPE_CHECKING:
    from segscope.explain import Explanation, Headroom


class Group(Model):
    """A segment: the expressions that one scheduler takes as one kernel (or evaluates without one)."""

    index: int
    """Position in the dump, from 0; also the position in ``SegmentedFusion.groups``."""
    id: int | None
    """``group id``, the number in kernel names (``_g<id>``); None in dumps from before 29 July 2024."""
    scheduler: str
    """``pointwise``, ``resize``, ``no_op``, ``expr_eval``, ... (``none``: no scheduler was printed)."""
    inputs: tuple[str, ...]
    """Names of the values that it reads, as listed."""
    outputs: tuple[str, ...]
    """Names of the values that it writes for others, as listed."""
    expr_ids: tuple[int, ...]
    """Ids of its expressions, in the order printed."""

    @property
    def label(self) -> str:
        """``g3`` by its group id, or ``#3`` by its position where the dump has no ids."""
        return f"#{self.index}" if self.id is None else f"g{self.id}"


class Edge(Model):
    """A value passed from one group to another."""

    source: int
    """Index of the producing group."""
    target: int
    """Index of the consuming group."""
    value: str
    """Name of the value."""


class Cut(NamedTuple):
    """All edges between one pair of groups."""

    source: int
    """Index of the producing group."""
    target: int
    """Index of the consuming group."""
    values: tuple[str, ...]
    """Names of the values that cross, each once."""


class SegmentedFusion(Model):
    """One fusion after segmentation, as nvFuser prints it with ``NVFUSER_DUMP=segmented_fusion``."""

    index: int
    """Position in the capture, from 0."""
    era: str
    """The form of the dump, ``E0`` (March 2023) to ``E10`` (since February 2026); see ``segscope.dump.eras``."""
    stream: str = ""
    """Which rank or program printed it, where a prefix of the lines says so."""
    inputs: tuple[str, ...]
    """Names of the fusion's inputs."""
    outputs: tuple[str, ...]
    """Names of the fusion's outputs."""
    groups: tuple[Group, ...]
    """The groups, in the order printed; a group's index is its position here."""
    edges: tuple[Edge, ...]
    """What passes from group to group, in the order printed."""
    exprs: tuple[Expr, ...]
    """Every expression once, in order of first appearance in the groups."""
    tensors: dict[str, Tensor]
    """Every tensor by name, in order of first appearance."""
    scalars: dict[str, str] = Field(default_factory=dict)
    """The dtype of every scalar that a list of inputs or outputs gives."""
    transforms: tuple[TensorTransforms, ...] = ()
    """How the domains of the tensors came to be; printed with the segments since February 2026."""
    log: SegmenterLog | None = None
    """The segmenter's trials, where they were printed."""
    passes: tuple[PassChange, ...] = ()
    """The passes that changed the fusion before segmentation, where they were printed."""
    complete: bool = True
    """False where the dump ended, or was damaged, before this fusion did."""
    first_line: int
    """Line of the source where the fusion segments begin, from 1."""

    @model_validator(mode="after")
    def _refers_to_itself(self) -> SegmentedFusion:
        ids = {e.id for e in self.exprs}
        if len(ids) != len(self.exprs):
            raise ValueError("an expression id appears twice")
        for position, group in enumerate(self.groups):
            if group.index != position:
                raise ValueError(f"group at position {position} has index {group.index}")
            if missing := set(group.expr_ids) - ids:
                raise ValueError(f"group {group.label} refers to unknown expressions {sorted(missing)}")
        for edge in self.edges:
            if not (0 <= edge.source < len(self.groups) and 0 <= edge.target < len(self.groups)):
                raise ValueError(f"edge over {edge.value} refers to a group that is not there")
        return self

    @cached_property
    def _exprs_by_id(self) -> dict[int, Expr]:
        return {e.id: e for e in self.exprs}

    def exprs_of(self, group: Group) -> tuple[Expr, ...]:
        """Return the group's expressions in the order printed."""
        return tuple(self._exprs_by_id[i] for i in group.expr_ids)

    def launches_kernel(self, group: Group) -> bool:
        """Say whether the group is a kernel group (``segscope.vocabulary.launches_kernel``)."""
        return launches_kernel(group.scheduler, (e.kind for e in self.exprs_of(group) if not e.is_scalar))

    @cached_property
    def kernel_groups(self) -> tuple[Group, ...]:
        """The groups that launch a kernel."""
        return tuple(g for g in self.groups if self.launches_kernel(g))

    def traffic(self, group: Group) -> Traffic:
        """Return what a kernel group reads and writes in memory, each element once; a metadata group nothing."""
        return self._traffic.get(group.index, Traffic({}, {}))

    @cached_property
    def _traffic(self) -> dict[int, Traffic]:
        return traffic(self)

    def resizes(self, expr: Expr) -> bool:
        """Say whether a slice or pad may change an extent: where all are known and equal, it does not."""
        before, after = (
            self.tensors[names[0]].shape if names and names[0] in self.tensors else None
            for names in (expr.tensor_inputs, expr.tensor_outputs)
        )
        return before is None or None in before or before != after

    def resizes_broadcast(self, expr: Expr) -> bool:
        """Say whether a slice or pad changes the extent of a broadcast dimension, or gives one."""
        names = (*expr.tensor_inputs[:1], *expr.tensor_outputs[:1])
        if len(names) < 2 or not all(name in self.tensors for name in names):
            return False
        before, after = ([dim for dim in self.tensors[name].domain if dim.iter_type != "r"] for name in names)
        return any(
            a.read_size != b.read_size and "b" in (a.iter_type, b.iter_type)
            for a, b in zip(before, after, strict=False)
        )

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """The cuts, in the order in which the dump first names them."""
        values: dict[tuple[int, int], dict[str, None]] = {}
        for edge in self.edges:
            values.setdefault((edge.source, edge.target), {})[edge.value] = None
        return tuple(Cut(source, target, tuple(names)) for (source, target), names in values.items())

    @property
    def schedulers(self) -> dict[str, int]:
        """How many groups each scheduler has, most first, then by name."""
        return by_scheduler(self.groups)

    @property
    def kernel_schedulers(self) -> dict[str, int]:
        """How many kernel groups each scheduler has, most first, then by name."""
        return by_scheduler(self.kernel_groups)

    def count(self, scheduler: str | None = None) -> int:
        """Count the groups of one scheduler, or the kernel groups where none is named.

        Raises SegscopeError for a scheduler that no known nvFuser has.
        """
        if scheduler is None:
            return Count(len(self.kernel_groups), self, None)
        check_scheduler(scheduler, self.schedulers)
        return Count(sum(g.scheduler == scheduler for g in self.groups), self, scheduler)

    def explain(self) -> Explanation:
        """Give each cut the strongest reason that there is evidence for (``segscope.explain.explain``)."""
        from segscope.explain import explain

        return explain(self)

    def headroom(self, *, seconds: float = 10.0) -> Headroom:
        """Return the fewest kernel groups that the same expressions can have (``segscope.explain.headroom``)."""
        from segscope.explain import headroom

        return headroom(self, seconds=seconds)

    def _repr_mimebundle_(self, include: Collection[str] | None = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import mimebundle

        return mimebundle(self, include)

    def __repr__(self) -> str:
        return f"<SegmentedFusion {self}>"

    def __str__(self) -> str:
        parts = ", ".join(f"{n} {name}" for name, n in self.schedulers.items()) or "none"
        groups, kernels = _counted(len(self.groups), "group"), _counted(len(self.kernel_groups), "kernel group")
        text = f"fusion {self.index}: {groups} ({parts}), {kernels}"
        return text if self.complete else f"{text}, dump incomplete"


def by_scheduler(groups: Iterable[Group]) -> dict[str, int]:
    """Return how many of the groups each scheduler has, most first, then by name."""
    counts = Counter(group.scheduler for group in groups)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
