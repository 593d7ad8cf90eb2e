"""Which groups, cuts and expressions findings are about, and the times of groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from segscope.model import Cut, SegmentedFusion

if TYPE_CHECKING:
    from segscope.checks import Finding
    from segscope.compare.timing import Overlay

MARKED: Final = ("error", "warning")
"""The severities of findings that are marked."""


class Marks:
    """Errors and warnings on a fusion, by what they are about, and measured times."""

    def __init__(self, fusion: SegmentedFusion, findings: Iterable[Finding], times: Overlay | None = None) -> None:
        self.times = times
        self.groups: defaultdict[int, list[Finding]] = defaultdict(list)
        """By index of the group."""
        self.exprs: defaultdict[tuple[int, int], list[Finding]] = defaultdict(list)
        """By index of the group and id of the expression."""
        self.cuts: defaultdict[tuple[int, int, str], list[Finding]] = defaultdict(list)
        """By indices of the groups and name of the value."""
        self.steps: dict[tuple[int, int], list[str]] = {}
        """Steps of a cycle that no cut carries, with the values that do, by indices of the groups."""
        leaving: defaultdict[int, list[Cut]] = defaultdict(list)
        for cut in fusion.cuts:
            leaving[cut.source].append(cut)
        homes: defaultdict[int, set[int]] = defaultdict(set)
        for group in fusion.groups:
            for number in group.expr_ids:
                homes[number].add(group.index)
        for finding in findings:
            if finding.severity in MARKED and finding.fusion == fusion.index:
                self._mark(fusion, finding, homes, leaving)

    def __bool__(self) -> bool:
        return bool(self.groups or self.exprs)

    def _mark(
        self,
        fusion: SegmentedFusion,
        finding: Finding,
        homes: Mapping[int, set[int]],
        leaving: Mapping[int, Sequence[Cut]],
    ) -> None:
        groups, there, tensors = finding.groups, set(finding.groups), set(finding.tensors)
        for index in groups:
            self.groups[index].append(finding)
        for number in finding.expressions:
            for index in homes[number] & there or homes[number]:
                self.exprs[index, number].append(finding)
        steps = set(zip(groups, (*groups[1:], *groups[:1]), strict=True)) if finding.rule == "cycle" else set()
        for cut in (cut for index in sorted(there) for cut in leaving.get(index, ())):
            pair = (cut.source, cut.target)
            if pair in steps or cut.target in there:
                for name in cut.values:
                    if pair in steps or name in tensors:
                        self.cuts[cut.source, cut.target, name].append(finding)
            steps.discard(pair)
        if steps:
            from segscope.checks.facts import facts_of

            dependencies = facts_of(fusion).dependencies()
            self.steps |= {step: dependencies.get(step, []) for step in sorted(steps)}


def names(findings: Iterable[Finding]) -> list[str]:
    """Return ``error: cycle``, ``warning: fp32-crossing``, ..., each once."""
    return list(dict.fromkeys(f"{finding.severity}: {finding.rule}" for finding in findings))
