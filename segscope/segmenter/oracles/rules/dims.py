"""Which dimension of an expression's output comes from which dimension of its operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from segscope.errors import SegscopeError
from segscope.explain.program import RebuildError
from segscope.model import Expr, IterDomain
from segscope.segmenter.whole import Whole
from segscope.vocabulary import METADATA_KINDS

_Pairs = list[tuple[int, int]]
_FROM_NOTHING: Final = frozenset({"full", "iota", "eye", "rng"})


class Dim(NamedTuple):
    """A dimension of a tensor."""

    kind: str
    """``i`` iteration, ``b`` broadcast, ``r`` reduction, ...: ``IterDomain.iter_type``."""
    size: int | str
    """Elements that a reader sees; the printed extent where it is not constant."""
    expanded: bool
    rfactor: bool


@dataclass
class Step:
    """What an expression does to dimensions; each is a number, unique in the fusion."""

    pairs: _Pairs
    """(of an operand, of the output): the same dimension."""
    new: list[int] = field(default_factory=list)
    """Broadcasts of the output that no operand has."""
    resized: _Pairs = field(default_factory=list)
    """(of the operand, of the output) whose extent a slice or pad changes."""
    reshaped: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    """Dimensions of the operand that a reshape takes, and those that it makes of them."""
    picked: _Pairs = field(default_factory=list)
    """(of a table, of the output) where the positions in the table are given by indices."""


class Dims:
    """The dimensions of all tensors of a fusion, numbered one after the other."""

    def __init__(self, whole: Whole) -> None:
        """SegscopeError where those of an operand and a result do not fit together, as in a damaged dump."""
        self.whole = whole
        self._first: dict[str, int] = {}
        self.all: list[Dim] = []
        names = dict.fromkeys((*whole.inputs, *(name for names in whole.reads for name in names)))
        names |= dict.fromkeys(name for names in whole.writes for name in names)
        for name in names:
            self._first[name] = len(self.all)
            self.all += [self._dim(dim, name) for dim in whole.tensor(name).domain]
        self._last = {name: first + len(whole.tensor(name).domain) for name, first in self._first.items()}
        self.steps = [self._step(expr) for expr in whole.exprs]

    def of(self, name: str) -> range:
        """Return the numbers of a tensor's dimensions, outermost first, the reduced ones among them."""
        return range(self._first[name], self._last[name])

    def rank(self, name: str) -> int:
        """Return how many dimensions a tensor has, without reduced ones."""
        return sum(self.all[dim].kind != "r" for dim in self.of(name))

    def is_broadcast(self, dim: int) -> bool:
        """Say whether a dimension is a broadcast."""
        return self.all[dim].kind == "b"

    def _dim(self, dim: IterDomain, name: str) -> Dim:
        return Dim(dim.iter_type, self._size(dim, name), dim.expanded_extent is not None, dim.rfactor)

    def _size(self, dim: IterDomain, name: str) -> int | str:
        if dim.read_size is not None:
            return dim.read_size
        printed = dim.extent if dim.expanded_extent is None else dim.expanded_extent
        try:
            return self.whole.known.number(printed, name)
        except RebuildError:
            return " ".join(printed.split())

    def _step(self, expr: Expr) -> Step:
        output = self.of(expr.tensor_outputs[0])
        if not expr.tensor_inputs and expr.kind in METADATA_KINDS:
            raise SegscopeError(f"fusion {self.whole.source.index}: {expr.kind} reads no tensor: is the dump damaged?")
        if not expr.tensor_inputs or expr.kind in _FROM_NOTHING:
            return Step([])
        special = _SPECIAL.get(expr.kind)
        if special:
            operand = [dim for dim in self.of(expr.tensor_inputs[0]) if self.all[dim].kind != "r"]
            try:
                return special(self, expr, operand, output)
            except (ValueError, IndexError):
                about = f"{expr.tensor_outputs[0]} and {expr.tensor_inputs[0]}"
                why = f"the dimensions of {about} do not fit together by {expr.kind}"
                raise SegscopeError(f"fusion {self.whole.source.index}: {why}: is the dump damaged?") from None
        pairs: _Pairs = []
        kept = list(output) if _reduces(self, output) else [dim for dim in output if self.all[dim].kind != "r"]
        for name in expr.tensor_inputs:
            pairs += zip([dim for dim in self.of(name) if self.all[dim].kind != "r"], kept, strict=False)
        return Step(pairs)


def _reduces(dims: Dims, output: range) -> bool:
    return any(dims.all[dim].kind == "r" for dim in output)


def _flags(dims: Dims, expr: Expr, long: Sequence[int], short: Sequence[int]) -> list[bool]:
    """Say which of the longer domain are not in the shorter one; dumps from before 2025 do not print it."""
    printed = expr.attributes.get("flags")
    if isinstance(printed, tuple):
        return [flag is True for flag in printed]
    left = len(long) - len(short)
    flags = []
    for dim in long:
        flags.append(left > 0 and dims.is_broadcast(dim))
        left -= flags[-1]
    return flags


def _broadcast(dims: Dims, expr: Expr, operand: list[int], output: range) -> Step:
    flags = _flags(dims, expr, output, operand)
    kept = [dim for dim, is_new in zip(output, flags, strict=True) if not is_new]
    return Step(
        list(zip(operand, kept, strict=True)), new=[d for d, is_new in zip(output, flags, strict=True) if is_new]
    )


def _squeeze(dims: Dims, expr: Expr, operand: list[int], output: range) -> Step:
    flags = _flags(dims, expr, operand, output)
    kept = [dim for dim, is_gone in zip(operand, flags, strict=True) if not is_gone]
    return Step(list(zip(kept, output, strict=True)))


def _permute(dims: Dims, expr: Expr, operand: list[int], output: range) -> Step:
    """Iter domains are numbered in the order of the operand where the transforms are not printed."""
    name = expr.tensor_outputs[0]
    found = dims.whole.known.transforms.get(dims.whole.original(name))
    order = found.permutation if found else None
    if order is None:
        numbers = [dim.number for dim in dims.whole.tensor(name).domain]
        order = tuple(map(sorted(numbers).index, numbers))
    return Step([(operand[position], dim) for position, dim in zip(order, output, strict=True)])


def _reshape(dims: Dims, expr: Expr, operand: list[int], output: range) -> Step:
    """What is not marked ``rf`` is carried over: the next dimension of the same extent."""
    pairs: _Pairs = []
    left = iter(operand)
    for dim in output:
        if not dims.all[dim].rfactor:
            same = next((other for other in left if dims.all[other].size == dims.all[dim].size), None)
            if same is not None:
                pairs.append((same, dim))
    before, after = {a for a, _ in pairs}, {b for _, b in pairs}
    taken = [dim for dim in operand if dim not in before and not dims.is_broadcast(dim)]
    return Step(pairs, reshaped=(taken, [dim for dim in output if dim not in after]))


def _resize(dims: Dims, expr: Expr, operand: list[int], output: range) -> Step:
    pairs = list(zip(operand, output, strict=True))
    resized = [(a, b) for a, b in pairs if dims.all[a].size != dims.all[b].size]
    return Step([pair for pair in pairs if pair not in resized], resized=resized)


def _index_select(dims: Dims, expr: Expr, table: list[int], output: range) -> Step:
    """The dimension ``dim`` of the table is read where the indices say, which have the rank of the output."""
    at = expr.attributes.get("dim")
    pairs = list(zip(table, output, strict=False))
    picked = [pair for position, pair in enumerate(pairs) if position == at]
    pairs = [pair for pair in pairs if pair not in picked]
    for name in expr.tensor_inputs[1:]:
        pairs += zip(dims.of(name), output, strict=False)
    return Step(pairs, picked=picked)


_SPECIAL: Final[dict[str, Callable[[Dims, Expr, list[int], range], Step]]] = {
    "broadcast": _broadcast,
    "squeeze": _squeeze,
    "permute": _permute,
    "reshape": _reshape,
    "slice": _resize,
    "pad": _resize,
    "index_select": _index_select,
}
