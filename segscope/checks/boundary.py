"""What a kernel can read only where it is in memory: the reason of most cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from segscope.checks.facts import Facts, listed
from segscope.model import Expr, SegmentedFusion

RESIZES: Final = frozenset({"slice", "pad"})
LOOKUPS: Final = frozenset({"select", "index_select", "gather"})
_SHOWN: Final = 3


def reads_memory(fusion: SegmentedFusion, expr: Expr, name: str, *, resize_scheduler: bool) -> bool:
    """Say whether an expression can read a value only where it is an input of its kernel.

    A select, index_select or gather its first operand; a slice or pad that changes an extent too, unless the resize
    scheduler takes it, which does not resize a broadcast dimension, nor to one. Source: the input requirements in
    csrc/scheduler/registry_utils.cpp and csrc/scheduler/resize.cpp, and their refusals in real logs.
    """
    if expr.tensor_inputs[:1] != (name,):
        return False
    if expr.kind in LOOKUPS:
        return True
    if expr.kind not in RESIZES or not fusion.resizes(expr):
        return False
    return not resize_scheduler or fusion.resizes_broadcast(expr)


def boundary(facts: Facts, source: int, target: int, values: Sequence[str]) -> tuple[list[Expr], list[str], str]:
    """Return the expressions that keep two groups from being one kernel, what they read, and both in words.

    They read what crosses. Or they read what their own group computes, which launches no kernel as it is, or which is a
    resize group while the other one reduces. The resize scheduler counts where a group of the fusion has it.
    """
    fusion = facts.fusion
    groups = [fusion.groups[index] for index in (source, target)]
    if not any(map(fusion.launches_kernel, groups)):
        return [], [], ""
    reduces = facts.reduces[source] or facts.reduces[target]
    resize_scheduler = facts.resize_scheduler and not reduces
    readers = {value: _readers(facts, target, value, resize_scheduler) for value in values}
    if found := _all(readers):
        return *found, _in_words(facts, source, target, *found)
    for group in groups:
        if not fusion.launches_kernel(group) or (reduces and group.scheduler == "resize"):
            own = group.index
            if found := _of_its_own(facts, own, resize_scheduler):
                return *found, _in_words(facts, own, own, *found)
    return [], [], ""


def _of_its_own(facts: Facts, group: int, resize_scheduler: bool) -> tuple[list[Expr], list[str]] | None:
    """Return what reads the values of its own group, found once for all cuts of the group."""
    key = (group, resize_scheduler)
    if key not in facts.memory_reads:
        values = facts.defined[group]
        facts.memory_reads[key] = _all({value: _readers(facts, group, value, resize_scheduler) for value in values})
    return facts.memory_reads[key]


def _readers(facts: Facts, group: int, value: str, resize_scheduler: bool) -> list[Expr]:
    readers = facts.readers[group].get(value, ())
    return [expr for expr in readers if reads_memory(facts.fusion, expr, value, resize_scheduler=resize_scheduler)]


def _all(readers: dict[str, list[Expr]]) -> tuple[list[Expr], list[str]] | None:
    exprs = list({expr.id: expr for found in readers.values() for expr in found}.values())
    return (exprs, [value for value, found in readers.items() if found]) if exprs else None


def _in_words(facts: Facts, computes: int, reads: int, exprs: Sequence[Expr], tensors: Sequence[str]) -> str:
    names = [f"{expr.kind} {', '.join(expr.outputs)}" for expr in exprs[:_SHOWN]]
    if len(exprs) > _SHOWN:
        names.append(f"{len(exprs) - _SHOWN} more")
    verb = "reads" if len(exprs) == 1 else "read"
    what = f"{listed(names)} in {facts.label(reads)} {verb} {listed(tensors)}"
    if computes == reads:
        return f"{what}, computed there, which as part of one kernel could only be read from memory"
    return f"{what}, computed by {facts.label(computes)}, and in a kernel can only read it from memory"


def hint(facts: Facts, source: int, target: int, value: str) -> Expr | None:
    """Return the ``SegmenterSet`` that makes a value which crosses, or reads it; None where there is none."""
    made_by = facts.defined[source].get(value)
    if made_by and made_by.kind == "segmenter_set":
        return made_by
    return next((expr for expr in facts.readers[target].get(value, ()) if expr.kind == "segmenter_set"), None)
