"""``broadcast-crossing``: a tensor that its reader could make itself, from what is in memory anyway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from segscope.checks.base import Check
from segscope.checks.boundary import reads_memory
from segscope.checks.facts import Facts, facts_of, listed
from segscope.checks.finding import Finding, Severity
from segscope.model import Expr, SegmentedFusion


class BroadcastCrossing(Check):
    """Metadata operations move no data, so a kernel that does nothing else to its input need not hand it on.

    Tensors that fit in one cache line (``Facts.fits_a_line``) are left out: to read one costs no less than to read it.
    """

    name: ClassVar[str] = "broadcast-crossing"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "a kernel hands on a mere broadcast, expand or other view of its input"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield one finding for each cut after a kernel group; ``bytes`` are those of the tensors in memory."""
        facts = facts_of(fusion)
        kernels = {group.index for group in fusion.kernel_groups}
        for source, target, values in fusion.cuts:
            if source not in kernels:
                continue
            chains = {
                value: chain
                for value in values
                if not facts.fits_a_line(value) and (chain := _view_of_input(facts, source, target, value))
            }
            if not chains:
                continue
            roots = list(dict.fromkeys(chain[-1].tensor_inputs[0] for chain in chains.values()))
            a, b = facts.label(source), facts.label(target)
            alone = ", and nothing else crosses there" if len(chains) == len(values) else ""
            kinds = " and ".join(dict.fromkeys(expr.kind for chain in chains.values() for expr in reversed(chain)))
            yield Finding(
                rule=self.name,
                severity=self.severity,
                fusion=fusion.index,
                groups=(source, target),
                expressions=tuple(sorted({expr.id for chain in chains.values() for expr in chain})),
                tensors=tuple(chains),
                bytes=facts.stored_bytes(chains),
                message=f"{b} reads {listed(list(chains))} from {a}: only {kinds} of {listed(roots)}{alone}",
                advice=f"let {b} read {listed(roots)} and repeat the {kinds}",
            )


def _view_of_input(facts: Facts, source: int, target: int, value: str) -> list[Expr]:
    """Return what makes ``value`` from an input of its group, last first; empty where that is more than a view.

    Also where a slice or the like in the reader must find ``value`` itself in memory, or a hint put the cut there.
    """
    resize_scheduler = facts.fusion.groups[target].scheduler == "resize"
    readers = facts.readers[target].get(value, ())
    if any(reads_memory(facts.fusion, expr, value, resize_scheduler=resize_scheduler) for expr in readers):
        return []
    inputs = {*facts.fusion.groups[source].inputs, *facts.fusion.inputs}
    chain: list[Expr] = []
    while value not in inputs:
        expr = facts.defined[source].get(value)
        if expr is None or not expr.is_metadata or expr.kind == "segmenter_set" or len(expr.tensor_inputs) != 1:
            return []
        if expr in chain:
            return []
        chain.append(expr)
        value = expr.tensor_inputs[0]
    return chain
