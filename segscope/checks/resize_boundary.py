"""``resize-boundary``: why a cut is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from segscope.checks.base import Check
from segscope.checks.boundary import RESIZES, boundary, hint
from segscope.checks.facts import Facts, facts_of, listed, tensors_of
from segscope.checks.finding import Finding, Severity
from segscope.model import Expr, SegmentedFusion

_RESIZE: Final = "nvFuser's resize scheduler, where it is there and not disabled, has slices and pads inside kernels"
_TOO_OLD: Final = "no scheduler of this nvFuser has slices and pads inside kernels; since 0.2.27.dev20250401 resize has"
_BEFORE_RESIZE: Final = frozenset({"E0", "E1", "E2", "E3", "E4", "E5", "E6"})
"""Forms of the dump of nvFusers that have no resize scheduler (segscope/segmenter/versions.toml)."""
_BROADCAST: Final = "nvFuser's resize scheduler is there, but resizes no broadcast dimension, and reduces nothing"
_LOOKUP: Final = "no scheduler of nvFuser looks up in what its kernel computes"
_NO_RESIZE: Final = "NVFUSER_DISABLE=resize_scheduler"
_LOG: Final = "NVFUSER_DUMP=segmenter_logging"


class ResizeBoundary(Check):
    """A slice, pad, select, index_select or gather reads an input of its kernel, not what the kernel computes.

    A cat is cut off by its pads. That holds for every scheduler but ``resize``, and for that too where a broadcast
    dimension is resized or something is reduced; groups that launch no kernel are free of it. A slice or pad that
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
        asked_for = set(fusion.outputs)
        for source, target, values in fusion.cuts:
            a, b = facts.label(source), facts.label(target)
            exprs, tensors, reason = boundary(facts, source, target, values)
            hints = {value: expr for value in values if (expr := hint(facts, source, target, value))}
            outputs = [value for value in values if value in asked_for]
            option: str | None = _LOG
            if exprs:
                why = f"is there because {reason}"
                advice, option = _advice(facts, exprs)
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


def _advice(facts: Facts, exprs: Sequence[Expr]) -> tuple[str, str | None]:
    """Return what the resize scheduler has to do with a boundary, and the option that shows it."""
    if not any(expr.kind in RESIZES for expr in exprs):
        return _LOOKUP, None
    if facts.resize_scheduler:
        return _BROADCAST, _NO_RESIZE
    return (_TOO_OLD, None) if facts.fusion.era in _BEFORE_RESIZE else (_RESIZE, _NO_RESIZE)
