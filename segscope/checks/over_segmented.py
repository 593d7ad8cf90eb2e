"""``over-segmented``: more kernels than the same expressions need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from segscope.checks.base import Check
from segscope.checks.facts import listed, tensors_of
from segscope.checks.finding import Finding, Severity
from segscope.errors import SegscopeError
from segscope.model import SegmentedFusion

_MOST_EXPRESSIONS: Final = 1000


class OverSegmented(Check):
    """The fewest connected kernel groups under the rules that this nvFuser had; those that are not elementwise stay.

    A note, for it is a bound by structure: ``segscope explain --headroom --verify`` asks nvFuser whether it would take
    those groups. The search ends after a second; then the few groups that it found count. A fusion of more than 1,000
    expressions is passed over, and so is one whose dump is cut off, or that has a cycle.
    """

    name: ClassVar[str] = "over-segmented"
    severity: ClassVar[Severity] = "note"
    summary: ClassVar[str] = "more elementwise kernels than a segmentation with the same rules needs"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield one finding for a fusion, with the kernels that would do as evidence."""
        from segscope.explain.headroom import headroom, rules_of
        from segscope.explain.work import ELEMENTWISE

        elementwise = [group for group in fusion.kernel_groups if group.scheduler in ELEMENTWISE]
        if len(elementwise) < 2 or len(fusion.exprs) > _MOST_EXPRESSIONS or not fusion.complete:
            return
        rules = rules_of(fusion)
        try:
            bound = headroom(fusion, [rules], seconds=1.0).bound(rules, connected=True)
        except SegscopeError:  # a cycle, of which another rule tells
            return
        saved = fusion.count() - bound.fewest
        if saved <= 0:
            return
        kernels = [f"{{{', '.join(tensors_of(group.outputs))}}}" for group in bound.proof.kernel_groups]
        would = "would do" if bound.exact or not kernels else "would do, or fewer"
        few = f"{bound.fewest} {would}: those of {listed(kernels)}" if kernels else f"none {would}"
        yield Finding(
            rule=self.name,
            severity=self.severity,
            fusion=fusion.index,
            groups=tuple(group.index for group in elementwise),
            message=f"{fusion.count()} kernel groups where {few}",
            advice="see why each cut is there, and which early merge blocks a later one: segscope explain --headroom",
            option="NVFUSER_DUMP=segmenter_logging",
        )
