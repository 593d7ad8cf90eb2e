"""``cycle``: groups that wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from segscope.checks.base import Check
from segscope.checks.facts import facts_of, listed, tensors_of, way
from segscope.checks.finding import Finding, Severity
from segscope.graph import components, fewest_cuts, shortest_cycle, successors
from segscope.model import Capture, SegmentedFusion


class Cycle(Check):
    """Tensors, and scalars that one group alone computes, make one group depend on another."""

    name: ClassVar[str] = "cycle"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "groups wait for each other, over tensors or over scalars such as extents"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield one finding for each set of groups that wait for each other: a shortest cycle, and what to cut."""
        facts = facts_of(fusion)
        dependencies = facts.dependencies()
        graph = successors(len(fusion.groups), dependencies)
        for members in components(graph):
            inside = set(members)
            part = [
                [to for to in targets if to in inside] if node in inside else [] for node, targets in enumerate(graph)
            ]
            cycle = shortest_cycle(part)
            steps = list(pairwise((*cycle, cycle[0])))
            values = [value for step in steps for value in dependencies[step]]
            path = way(fusion, (*cycle, cycle[0]), [", ".join(dependencies[step]) for step in steps])
            cut = fewest_cuts(part)
            cuts = listed(
                [f"{facts.label(a)} -> {facts.label(b)} ({', '.join(dependencies[a, b])})" for a, b in cut.edges]
            )
            fewest = "the fewest cuts that undo it" if cut.exact else f"{len(cut.edges)} cuts that undo it"
            exprs = {facts.defined[a][v].id for a, b in steps for v in dependencies[a, b] if v in facts.defined[a]}
            yield Finding(
                rule=self.name,
                severity=self.severity,
                fusion=fusion.index,
                groups=cycle,
                expressions=tuple(sorted(exprs)),
                tensors=tensors_of(list(dict.fromkeys(values))),
                message=f"{len(members)} groups wait for each other: {path}",
                advice=f"compute in the reading group, or in a group before it, what crosses here; {fewest}: {cuts}",
            )

    def run_on_errors(self, capture: Capture) -> Iterator[Finding]:
        """Yield one finding for each error in which nvFuser says that its groups are no DAG."""
        for error in capture.errors:
            if error.kind == "not a DAG":
                yield Finding(
                    rule=self.name,
                    severity=self.severity,
                    fusion=None,
                    message=f"line {error.line}: nvFuser stopped at a cycle, before it printed segments: {error.text}",
                    advice="no segments follow it: those here are of other fusions; dump the segmenter's log",
                    option="NVFUSER_DUMP=segmenter_logging",
                )
