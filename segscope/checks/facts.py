"""What several rules ask of a fusion: who defines a value, who reads it, what depends on what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from segscope.model import Expr, SegmentedFusion, Tensor

HALVES = frozenset({"bfloat", "half"})
"""The 16-bit floating point types, in the words of the cast operators."""

REDUCTIONS = frozenset({"reduction", "grouped_reduction", "welford", "grouped_welford"})

LINE_BYTES = 128
"""Bytes of a cache line of NVIDIA's GPUs."""


@dataclass
class Facts:
    """A fusion, with its expressions and values looked up by group and by name. Made in linear time."""

    fusion: SegmentedFusion
    exprs: list[tuple[Expr, ...]] = field(init=False)
    """The expressions of each group."""
    defined: list[dict[str, Expr]] = field(init=False)
    """For each group the values that it defines, with what defines them."""
    readers: list[dict[str, list[Expr]]] = field(init=False)
    """For each group the values that its expressions read, with those that do."""

    reduces: list[bool] = field(init=False)
    """For each group whether it reduces anything."""
    memory_reads: dict[tuple[int, bool], tuple[list[Expr], list[str]] | None] = field(default_factory=dict, init=False)
    """What ``boundary`` found inside a group, with and without the resize scheduler."""

    resize_scheduler: bool = field(init=False)
    """Whether the resize scheduler takes a group, so that nvFuser had it and it was not disabled."""

    def __post_init__(self) -> None:
        self.resize_scheduler = any(group.scheduler == "resize" for group in self.fusion.groups)
        self.exprs = [self.fusion.exprs_of(group) for group in self.fusion.groups]
        self.reduces = [any(expr.kind in REDUCTIONS for expr in exprs) for exprs in self.exprs]
        self.defined = [{name: expr for expr in exprs for name in expr.outputs} for exprs in self.exprs]
        self.readers = []
        for exprs in self.exprs:
            readers: dict[str, list[Expr]] = defaultdict(list)
            for expr in exprs:
                for name in dict.fromkeys(expr.inputs):
                    readers[name].append(expr)
            self.readers.append(dict(readers))

    def dependencies(self) -> dict[tuple[int, int], list[str]]:
        """Return for each pair of groups the values by which the second depends on the first, in order of the pairs.

        Those that edges carry; those that a group lists as an input, or that its expressions read, and one other group
        alone makes, edge or none. That holds for scalars too: an extent that only one group computes. A value that
        several groups make orders nothing.
        """
        found: dict[tuple[int, int], dict[str, None]] = {
            (source, target): dict.fromkeys(values) for source, target, values in self.fusion.cuts
        }
        carried = {(edge.target, edge.value) for edge in self.fusion.edges}
        makers: dict[str, set[int]] = defaultdict(set)
        for group in self.fusion.groups:
            for name in (*group.outputs, *self.defined[group.index]):
                makers[name].add(group.index)
        given = set(self.fusion.inputs)
        for group in self.fusion.groups:
            for name in dict.fromkeys((*group.inputs, *self.readers[group.index])):
                made_by = makers.get(name, set())
                if len(made_by) != 1 or group.index in made_by or name in given or (group.index, name) in carried:
                    continue
                found.setdefault((min(made_by), group.index), {})[name] = None
        return {pair: list(found[pair]) for pair in sorted(found)}

    def label(self, index: int) -> str:
        """Return the label of a group."""
        return self.fusion.groups[index].label

    def fits_a_line(self, name: str) -> bool:
        """Say whether a tensor is known to take no more than ``LINE_BYTES`` in memory: it costs nothing to hand on.

        So do scalars, and what is expanded from one, such as the gradient of a sum.
        """
        tensor = self.tensor(name)
        return tensor is not None and tensor.stored_bytes is not None and tensor.stored_bytes <= LINE_BYTES

    def stored_bytes(self, names: Iterable[str]) -> int | None:
        """Return the bytes that tensors take in memory; None where that is not known of each."""
        sizes = [tensor.stored_bytes if (tensor := self.tensor(name)) else None for name in names]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def tensor(self, name: str) -> Tensor | None:
        """Return what is known of a tensor."""
        return self.fusion.tensors.get(name)


_KEPT: WeakValueDictionary[int, Facts] = WeakValueDictionary()


def facts_of(fusion: SegmentedFusion) -> Facts:
    """Return the facts of a fusion: those that somebody holds, so that rules that run one after another share them."""
    found = _KEPT.get(id(fusion))
    if found is None:
        found = _KEPT[id(fusion)] = Facts(fusion)
    return found


def way(fusion: SegmentedFusion, path: Sequence[int], values: Sequence[str]) -> str:
    """``#1 -(T8)-> #7 -(T15)-> #10``: groups, and what leads from each to the next."""
    labels = [fusion.groups[index].label for index in path]
    return labels[0] + "".join(f" -({value})-> {label}" for value, label in zip(values, labels[1:], strict=True))


def listed(names: Sequence[str]) -> str:
    """``T1``, ``T1 and T2``, ``T1, T2 and T3``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def tensors_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the tensors among names of values."""
    return tuple(name for name in names if name.startswith("T"))
