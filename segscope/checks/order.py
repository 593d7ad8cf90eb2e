"""``order``: what groups, edges and expressions say of each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import ClassVar

from segscope.checks.base import Check
from segscope.checks.facts import Facts, facts_of, listed, tensors_of
from segscope.checks.finding import Finding, Severity
from segscope.model import SegmentedFusion


class Order(Check):
    """Groups come in the order in which they run, and every value comes from where it is said to."""

    name: ClassVar[str] = "order"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "a group, an edge or an output names a value that is not there, or is made too late"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield what does not fit: inputs, outputs, edges, then expressions in several groups."""
        facts = facts_of(fusion)
        yield from self._inputs(facts)
        yield from self._outputs(facts)
        yield from self._edges(facts)
        yield from self._repeated(facts)

    def _inputs(self, facts: Facts) -> Iterator[Finding]:
        fusion = facts.fusion
        given = set(fusion.inputs)
        makers: dict[str, list[int]] = defaultdict(list)
        for group in fusion.groups:
            for name in group.outputs:
                makers[name].append(group.index)
        for group in fusion.groups:
            for name in dict.fromkeys(group.inputs):
                others = [index for index in makers.get(name, ()) if index != group.index]
                if name in given or any(index < group.index for index in others):
                    continue
                if others:
                    text = f"reads {name}, which {listed([facts.label(i) for i in others])} makes only later"
                    yield self._finding(facts, (group.index, *others), [name], f"{group.label} {text}")
                elif name.startswith("T"):
                    text = f"reads {name}, which is no input of the fusion and no output of another group"
                    yield self._finding(facts, (group.index,), [name], f"{group.label} {text}")
            known = {*group.inputs, *facts.defined[group.index]}
            for name, exprs in facts.readers[group.index].items():
                if name.startswith("T") and name not in known:
                    text = f"{group.label} uses {name} and neither computes it nor has it as an input"
                    yield self._finding(facts, (group.index,), [name], text, tuple(expr.id for expr in exprs))

    def _outputs(self, facts: Facts) -> Iterator[Finding]:
        fusion = facts.fusion
        given = set(fusion.inputs)
        for group in fusion.groups:
            known = {*group.inputs, *facts.defined[group.index]}
            for name in group.outputs:
                if name not in known and name not in given:
                    text = f"{group.label} has {name} as an output and does not compute it"
                    yield self._finding(facts, (group.index,), [name], text)
        made = {name for group in fusion.groups for name in group.outputs}
        for name in fusion.outputs:
            if name not in made and name not in given:
                yield self._finding(facts, (), [name], f"no group has {name}, an output of the fusion, as an output")

    def _edges(self, facts: Facts) -> Iterator[Finding]:
        groups = facts.fusion.groups
        for edge in facts.fusion.edges:
            source, target = groups[edge.source], groups[edge.target]
            where = f"the edge {source.label} -> {target.label} carries {edge.value}"
            if edge.value not in source.outputs:
                text = f"{where}, which is no output of {source.label}"
                yield self._finding(facts, (edge.source, edge.target), [edge.value], text)
            if edge.value not in target.inputs:
                text = f"{where}, which is no input of {target.label}"
                yield self._finding(facts, (edge.source, edge.target), [edge.value], text)

    def _repeated(self, facts: Facts) -> Iterator[Finding]:
        where: dict[int, list[int]] = defaultdict(list)
        for group in facts.fusion.groups:
            for number in dict.fromkeys(group.expr_ids):
                where[number].append(group.index)
        for expr in facts.fusion.exprs:
            groups = where[expr.id]
            if len(groups) > 1 and not (expr.is_scalar or expr.is_metadata or expr.kind == "cast"):
                labels = listed([facts.label(index) for index in groups])
                text = f"{expr.kind} of {', '.join(expr.outputs)} is computed in each of {labels}"
                yield self._finding(facts, tuple(groups), list(expr.outputs), text, (expr.id,))

    def _finding(
        self, facts: Facts, groups: tuple[int, ...], names: list[str], message: str, expressions: tuple[int, ...] = ()
    ) -> Finding:
        whole = facts.fusion.complete
        return Finding(
            rule=self.name,
            severity=self.severity if whole else "warning",
            fusion=facts.fusion.index,
            groups=groups,
            expressions=expressions,
            tensors=tensors_of(names),
            message=message,
            advice="if nvFuser printed it so, report it to nvFuser"
            if whole
            else "the dump is incomplete: capture it again",
        )
