"""``metadata-kernel``: a kernel that computes nothing, or a copy where none seems to be."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from segscope.checks.base import Check
from segscope.checks.facts import Facts, facts_of, tensors_of
from segscope.checks.finding import Finding, Severity
from segscope.model import Expr, Group, SegmentedFusion, Tensor


class MetadataKernel(Check):
    """Metadata operations move no data alone, unless a scheduler makes a kernel of them, or they give no view.

    Of the operations that give no view only one can be told from the dump: a reshape that merges an expanded dimension
    with another. What else depends on strides, which are not printed.
    """

    name: ClassVar[str] = "metadata-kernel"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "a group of metadata operations alone copies, in a kernel or in a reshape"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield one finding for each such group; ``bytes`` are those of the tensors that are written."""
        facts = facts_of(fusion)
        for group in fusion.groups:
            exprs = [expr for expr in facts.exprs[group.index] if not expr.is_scalar]
            if not exprs or not all(expr.is_metadata for expr in exprs):
                continue
            if fusion.launches_kernel(group):
                kinds = ", ".join(dict.fromkeys(expr.kind for expr in exprs))
                message = f"{group.label} ({group.scheduler}) launches a kernel for {kinds} alone"
                written = tensors_of(group.outputs)
                yield self._finding(facts, group, exprs, written, message)
            elif copies := [expr for expr in exprs if _merges_expanded(facts, expr)]:
                written = tuple(name for expr in copies for name in expr.tensor_outputs)
                message = (
                    f"{group.label} ({group.scheduler}) launches no kernel of nvFuser, but its reshape to "
                    f"{', '.join(written)} merges an expanded dimension, which copies"
                )
                yield self._finding(facts, group, copies, written, message)

    def _finding(
        self, facts: Facts, group: Group, exprs: list[Expr], written: tuple[str, ...], message: str
    ) -> Finding:
        return Finding(
            rule=self.name,
            severity=self.severity,
            fusion=facts.fusion.index,
            groups=(group.index,),
            expressions=tuple(sorted(expr.id for expr in exprs)),
            tensors=written,
            bytes=facts.stored_bytes(written),
            message=message,
            advice="see why it is no view of its input: a layout that was asked for, or a reshape across strides",
            option="MarkAliasesPreparePass",
        )


def _merges_expanded(facts: Facts, expr: Expr) -> bool:
    if expr.kind != "reshape" or not (expr.tensor_inputs and expr.tensor_outputs):
        return False
    before, after = facts.tensor(expr.tensor_inputs[0]), facts.tensor(expr.tensor_outputs[0])
    return before is not None and after is not None and _expanded(before) > _expanded(after)


def _expanded(tensor: Tensor) -> int:
    """Elements that are read for each one in memory, because of expanded dimensions of constant size."""
    return prod(dim.expanded_size for dim in tensor.domain if dim.expanded_size)
