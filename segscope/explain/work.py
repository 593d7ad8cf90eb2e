"""What of a fusion needs a kernel, what may be repeated in every kernel that wants it, and what must be kept apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import itemgetter
from typing import Final, Literal

from segscope.checks.boundary import reads_memory
from segscope.graph.partition import Problem
from segscope.model import Expr, SegmentedFusion

Rules = Literal["boundary", "resize"]
"""What a kernel may hold.

``boundary``: a slice or pad that changes an extent reads an input of its kernel, as every scheduler but ``resize``
demands; ``resize``: it may read what the kernel computes, unless the dimension is a broadcast, before or after. In
both, select, index_select and gather read an input, and a ``SegmenterSet`` is a cut (``segscope.checks.boundary``).
"""

ELEMENTWISE: Final = frozenset({"pointwise", "resize", "transpose"})
"""The schedulers whose groups may be made anew; a group of any other stays as it is, and none joins it."""

_BITS: Final = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


class Work:
    """The expressions on tensors of a fusion under one set of rules.

    A metadata operation, or a cast to more bits of the same kind, is *free*: each kernel that reads it may compute it
    for itself. A cast is not free where its result must be in memory: as an output of the fusion, or for a slice, pad
    or hint that may not read a computed value. Where nvFuser made a kernel of metadata operations alone, that kernel
    copies, and its operations are not free. All else needs a kernel, and is a node, or part of one.
    """

    def __init__(self, fusion: SegmentedFusion, rules: Rules) -> None:
        self.fusion = fusion
        self.rules = rules
        self.made_by = {name: expr for expr in fusion.exprs for name in expr.outputs}
        """What defines a value."""
        self._order = {expr.id: (position, expr) for position, expr in enumerate(fusion.exprs)}
        self.fixed = self._fixed_groups()
        """What stays in its group: the scheduler by expression id."""
        self._in_kernels = {i for group in fusion.kernel_groups for i in group.expr_ids}
        self._kept = self._kept_casts()
        self.nodes: list[tuple[int, ...]] = []
        """The ids of the expressions of each node: one expression, or what a group that stays has of work."""
        self._place()

    def free(self, expr: Expr) -> bool:
        """Say whether every kernel that reads the expression may compute it for itself."""
        if expr.id in self.fixed:
            return False
        if expr.is_scalar or expr.id not in self._in_kernels:
            return True
        return expr.is_metadata or (_is_up_cast(expr) and expr.id not in self._kept)

    def apart(self, expr: Expr, name: str) -> bool:
        """Say whether an expression may read a value only where it is an input of its kernel, or is a cut itself."""
        resize_scheduler = self.rules == "resize"
        return expr.kind == "segmenter_set" or reads_memory(self.fusion, expr, name, resize_scheduler=resize_scheduler)

    @cached_property
    def problem(self) -> Problem:
        """The nodes, and what one needs of another, over free expressions too."""
        edges: dict[tuple[int, int], bool] = {}
        for node, ids in enumerate(self.nodes):
            for expr in self.exprs(ids):
                for source, apart in self._sources(expr):
                    if source != node:
                        edges[source, node] = edges.get((source, node), False) or apart
        return Problem(len(self.nodes), edges, frozenset(range(len(self._fixed_ids))))

    def with_free(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """Return the expressions of a kernel: those given, and the free ones that it repeats, in the fusion's order.

        A slice of what the kernel does not compute is left outside: the kernel reads the view. It would otherwise have
        to cover all that the slice drops.
        """
        inputs: set[str] = set()
        while True:
            members = self._repeated(set(ids), inputs)
            more = {name for e in self.exprs(members) for name in e.tensor_inputs if self.apart(e, name)} - inputs
            if not more:
                return self.with_scalars(members)
            inputs |= more

    def _repeated(self, ids: set[int], inputs: set[str]) -> set[int]:
        """Return expressions and the free ones that they need, where ``inputs`` are read and not computed."""
        members = set(ids)
        computed = self._computed(ids, inputs)
        left = [name for expr in self.exprs(ids) for name in expr.tensor_inputs]
        while left:
            name = left.pop()
            maker = self.made_by.get(name)
            if maker is None or name in inputs or maker.id in members or not self.free(maker):
                continue
            if name in computed or maker.kind != "slice":
                members.add(maker.id)
                left += maker.tensor_inputs
        return members

    def _computed(self, ids: set[int], inputs: set[str]) -> set[str]:
        """Return the values behind expressions into which more goes than views of the kernel's inputs."""
        makers: dict[str, Expr] = {}
        readers: dict[str, list[str]] = defaultdict(list)
        left = [name for expr in self.exprs(ids) for name in expr.tensor_inputs]
        while left:
            name = left.pop()
            maker = self.made_by.get(name)
            if maker is None or name in inputs or name in makers:
                continue
            if maker.id in ids:
                makers[name] = maker
            elif self.free(maker):
                makers[name] = maker
                left += maker.tensor_inputs
                for other in maker.tensor_inputs:
                    readers[other].append(name)
        left = [name for name, e in makers.items() if e.id in ids or not (e.is_metadata or e.is_scalar)]
        computed = set(left)
        while left:
            more = set(readers[left.pop()]) - computed
            computed |= more
            left += more
        return computed

    def with_scalars(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Return expressions and the scalars that they need, in the fusion's order."""
        members = set(ids)
        left = [name for expr in self.exprs(members) for name in expr.inputs]
        while left:
            maker = self.made_by.get(left.pop())
            if maker and maker.is_scalar and maker.id not in members:
                members.add(maker.id)
                left += maker.inputs
        return tuple(expr.id for expr in self.exprs(members))

    def _fixed_groups(self) -> dict[int, str]:
        """Note the groups that stay as they are; return the schedulers of what they hold."""
        self._fixed_ids: list[tuple[int, ...]] = []
        taken: dict[int, str] = {}
        for group in self.fusion.kernel_groups:
            exprs = [expr for expr in self.fusion.exprs_of(group) if not expr.is_scalar]
            metadata_alone = all(expr.is_metadata for expr in exprs)
            if group.scheduler in ELEMENTWISE and not metadata_alone:
                continue
            ids = tuple(e.id for e in exprs if e.id not in taken and (metadata_alone or not _repeatable(e)))
            self._fixed_ids.append(ids)
            taken |= dict.fromkeys(ids, group.scheduler)
        return taken

    def _kept_casts(self) -> set[int]:
        """Return the up-casts whose results must be in memory."""
        kept: set[int] = set()
        left = list(self.fusion.outputs)
        for expr in self.fusion.exprs:
            left += [name for name in expr.tensor_inputs if self.apart(expr, name)]
        seen: set[str] = set()
        while left:
            name = left.pop()
            maker = self.made_by.get(name)
            if maker is None or name in seen:
                continue
            seen.add(name)
            if _is_up_cast(maker):
                kept.add(maker.id)
            elif maker.is_metadata:
                left += maker.tensor_inputs
        return kept

    def _place(self) -> None:
        self._place_of: dict[int, int] = {}
        for ids in self._fixed_ids:
            self._place_of |= dict.fromkeys(ids, len(self.nodes))
            self.nodes.append(ids)
        for expr in self.fusion.exprs:
            if expr.id not in self._place_of and not self.free(expr):
                self._place_of[expr.id] = len(self.nodes)
                self.nodes.append((expr.id,))

    def exprs(self, ids: Iterable[int]) -> list[Expr]:
        """Return expressions by their ids, in the fusion's order."""
        return [expr for _, expr in sorted((self._order[i] for i in set(ids)), key=itemgetter(0))]

    def _sources(self, expr: Expr) -> Iterator[tuple[int, bool]]:
        """Yield the nodes whose values an expression needs, and whether on the way something must read an input."""
        left = [(name, self.apart(expr, name)) for name in expr.inputs]
        seen: set[tuple[str, bool]] = set()
        while left:
            name, apart = left.pop()
            maker = self.made_by.get(name)
            if maker is None or (name, apart) in seen:
                continue
            seen.add((name, apart))
            if maker.id in self._place_of:
                yield self._place_of[maker.id], apart
            else:
                left += [(other, apart or self.apart(maker, other)) for other in maker.inputs]


def _repeatable(expr: Expr) -> bool:
    return expr.is_metadata or _is_up_cast(expr)


def _is_up_cast(expr: Expr) -> bool:
    source, target = expr.attributes.get("from"), expr.attributes.get("to")
    return expr.kind == "cast" and _BITS.get(str(source), 64) < _BITS.get(str(target), 0)
