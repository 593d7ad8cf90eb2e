"""What two groups as one kernel would break, as far as their structure tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from segscope.checks.boundary import boundary, hint
from segscope.checks.facts import REDUCTIONS, Facts, listed
from segscope.model import Expr, IterDomain
from segscope.model.base import Model
from segscope.vocabulary import OWN_KERNEL


class Broken(Model):
    """A rule that two groups as one kernel would break."""

    rule: Literal["hint", "boundary", "reduction", "reshape", "operation"]
    """* ``hint``: a ``SegmenterSet`` lies between them;
    * ``boundary``: a slice, pad or the like must read an input of its kernel (every scheduler but ``resize``);
    * ``reduction``: they reduce other dimensions or extents;
    * ``reshape``: they give one tensor two shapes;
    * ``operation``: one of them is what only its own scheduler takes."""
    expressions: tuple[int, ...]
    """Ids."""
    tensors: tuple[str, ...]
    """Names of the tensors that it is about; none for ``operation``."""
    text: str
    """In one line, without a verb in front: ``pad T16 in #10 reads T15, computed by #7, ...``."""


def broken_rules(facts: Facts, source: int, target: int, values: Sequence[str]) -> Iterator[Broken]:
    """Yield what would be broken if two groups were one that ``values`` cross from source to target."""
    hints = {value: expr for value in values if (expr := hint(facts, source, target, value))}
    if hints:
        said = f"a hint (SegmenterSet) lies at {listed(list(hints))}"
        yield _broken("hint", list(hints.values()), list(hints), said)
    exprs, tensors, said = boundary(facts, source, target, values)
    if exprs:
        yield _broken("boundary", exprs, tensors, said)
    for index in (source, target):
        group = facts.fusion.groups[index]
        if group.scheduler in OWN_KERNEL and facts.fusion.launches_kernel(group):
            exprs = [expr for expr in facts.exprs[index] if not (expr.is_scalar or expr.is_metadata)]
            said = f"{listed([f'{expr.kind} {expr.outputs[0]}' for expr in exprs])} in {group.label}"
            yield _broken("operation", exprs, [], f"{said}: only {group.scheduler} takes it, alone")
    yield from _reductions(facts, source, target)
    yield from _reshapes(facts, source, target)


def _reductions(facts: Facts, source: int, target: int) -> Iterator[Broken]:
    for a in _of_kinds(facts, source, REDUCTIONS):
        for b in _of_kinds(facts, target, REDUCTIONS):
            if (one := _reduced(facts, a)) != (other := _reduced(facts, b)):
                said = f"{a.outputs[0]} in {facts.label(source)} reduces {one}, {b.outputs[0]} in {facts.label(target)}"
                yield _broken("reduction", [a, b], [a.outputs[0], b.outputs[0]], f"{said} {other}")
                return


def _reshapes(facts: Facts, source: int, target: int) -> Iterator[Broken]:
    given = {expr.inputs[0]: expr for expr in _of_kinds(facts, source, {"reshape"}) if expr.inputs}
    for b in _of_kinds(facts, target, {"reshape"}):
        a = given.get(b.inputs[0]) if b.inputs else None
        if a and a.id != b.id and _extents(facts, a) != _extents(facts, b):
            said = f"{b.inputs[0]} is reshaped to {a.outputs[0]} in {facts.label(source)} and, otherwise, to"
            yield _broken("reshape", [a, b], [b.inputs[0]], f"{said} {b.outputs[0]} in {facts.label(target)}")
            return


def _of_kinds(facts: Facts, group: int, kinds: frozenset[str] | set[str]) -> list[Expr]:
    return [expr for expr in facts.exprs[group] if expr.kind in kinds]


def _reduced(facts: Facts, expr: Expr) -> str:
    """Return which dimensions a reduction reduces, of what extents: ``1 and 2 of [8, 16, 32]``."""
    tensor = facts.tensor(expr.outputs[0])
    if tensor is None:
        return "nothing known"
    axes = [str(at) for at, dim in enumerate(tensor.domain) if dim.iter_type == "r"]
    return f"{listed(axes) if axes else 'nothing'} of [{', '.join(map(_extent, tensor.domain))}]"


def _extents(facts: Facts, expr: Expr) -> list[str]:
    tensor = facts.tensor(expr.outputs[0])
    return [_extent(dim) for dim in tensor.domain] if tensor else []


def _extent(dim: IterDomain) -> str:
    return dim.extent if dim.size is None else str(dim.size)


def _broken(
    rule: Literal["hint", "boundary", "reduction", "reshape", "operation"],
    exprs: Sequence[Expr],
    tensors: Sequence[str],
    text: str,
) -> Broken:
    return Broken(rule=rule, expressions=tuple(sorted({e.id for e in exprs})), tensors=tuple(tensors), text=text)
