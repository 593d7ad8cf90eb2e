"""``resize-boundary``: why a cut is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from segscope.checks.base import Check
from segscope.checks.facts import Facts, facts_of, listed, tensors_of
from segscope.checks.finding import Finding, Severity
from segscope.model import Expr, SegmentedFusion

_RESIZES: Final = frozenset({"slice", "pad"})
_READS_MEMORY: Final = _RESIZES | {"cat", "select", "index_select", "gather"}
_SHOWN: Final = 3
_LOG: Final = "NVFUSER_DUMP=segmenter_logging"


class ResizeBoundary(Check):
    """A slice, pad, cat, select, index_select or gather reads an input of its kernel, not what the kernel computes.

    That holds for every scheduler but ``resize``; groups that launch no kernel are free of it. A slice or pad that
    leaves every extent as it is does not count.
    """

    name: ClassVar[str] = "resize-boundary"
    severity: ClassVar[Severity] = "note"
    summary: ClassVar[str] = (
        "why a cut is there: a slice, pad, cat or indexing, a hint, a fusion output, or none of these"
    )

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield one finding for each cut."""
        facts = facts_of(fusion)
        kernels = {group.index for group in fusion.kernel_groups}
        asked_for = set(fusion.outputs)
        for source, target, values in fusion.cuts:
            a, b = facts.label(source), facts.label(target)
            exprs, tensors, reason = resize_reason(facts, kernels, source, target, values)
            hints = {value: expr for value in values if (expr := hint(facts, source, target, value))}
            outputs = [value for value in values if value in asked_for]
            option = _LOG
            if exprs:
                why = f"is there because {reason}"
                advice = (
                    "nvFuser's resize scheduler, where it is there and not disabled, has slices and pads inside kernels"
                )
                option = "NVFUSER_DISABLE=resize_scheduler"
            elif hints:
                exprs, tensors = list(hints.values()), list(hints)
                why = f"is there because of a hint (SegmenterSet) at {listed(tensors)}"
                advice = "a pass of nvFuser, or the user, asked for it: dump pre_segmenter_logging to see which pass"
                option = "NVFUSER_DUMP=pre_segmenter_logging"
            elif outputs:
                tensors = outputs
                why = f"passes {listed(outputs)}, an output of the fusion, which is in memory anyway"
                advice = "the groups may still fit in one kernel: dump segmenter_logging to see who refused"
            else:
                tensors = list(values)
                why = f"({listed(values)}) comes from no slice, pad, cat or indexing, no hint and no fusion output"
                advice = "a scheduler refused the merge, or it would close a cycle: dump segmenter_logging to see which"
            yield Finding(
                rule=self.name,
                severity=self.severity,
                fusion=fusion.index,
                groups=(source, target),
                expressions=tuple(sorted({expr.id for expr in exprs})),
                tensors=tensors_of(tensors),
                message=f"the cut {a} -> {b} {why}",
                advice=advice,
                option=option,
            )


def resize_reason(
    facts: Facts, kernels: set[int], source: int, target: int, values: Sequence[str]
) -> tuple[list[Expr], list[str], str]:
    """Return the expressions that keep the groups from being one kernel, what they read, and both in words.

    They read what crosses; or they are in the first group, which launches no kernel, and read what it computes.
    """
    groups = facts.fusion.groups
    if "resize" in (groups[source].scheduler, groups[target].scheduler) or not kernels & {source, target}:
        return [], [], ""
    readers = {value: memory_readers(facts, target, value) for value in values}
    tensors = [value for value in values if readers[value]]
    exprs = list({expr.id: expr for value in tensors for expr in readers[value]}.values())
    if exprs:
        return exprs, tensors, _in_words(facts, source, target, exprs, tensors)
    if source not in kernels:
        for value in facts.defined[source]:
            if inner := memory_readers(facts, source, value):
                tensors.append(value)
                exprs += inner
    return exprs, tensors, _in_words(facts, source, source, exprs, tensors) if exprs else ""


def _in_words(facts: Facts, computes: int, reads: int, exprs: list[Expr], tensors: list[str]) -> str:
    names = [f"{expr.kind} {', '.join(expr.outputs)}" for expr in exprs[:_SHOWN]]
    if len(exprs) > _SHOWN:
        names.append(f"{len(exprs) - _SHOWN} more")
    verb = "reads" if len(exprs) == 1 else "read"
    return (
        f"{listed(names)} in {facts.label(reads)} {verb} {listed(tensors)}, computed by {facts.label(computes)}, "
        "and in a kernel can only read it from memory"
    )


def memory_readers(facts: Facts, group: int, value: str) -> list[Expr]:
    """Return the expressions of a group that in most schedulers' kernels can read a value from memory only."""
    return [
        expr
        for expr in facts.readers[group].get(value, ())
        if expr.kind in _READS_MEMORY
        and (expr.kind not in _RESIZES or (expr.tensor_inputs[:1] == (value,) and facts.fusion.resizes(expr)))
    ]


def hint(facts: Facts, source: int, target: int, value: str) -> Expr | None:
    """Return the ``SegmenterSet`` that makes a value which crosses, or reads it; None where there is none."""
    made_by = facts.defined[source].get(value)
    if made_by and made_by.kind == "segmenter_set":
        return made_by
    return next((expr for expr in facts.readers[target].get(value, ()) if expr.kind == "segmenter_set"), None)
