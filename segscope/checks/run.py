"""Run rules."""

from __future__ import annotations

from collections.abc import Iterable

from segscope.checks.finding import Finding
from segscope.checks.registry import choose
from segscope.model import Capture, SegmentedFusion


def check(
    fusion_or_capture: SegmentedFusion | Capture, select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> list[Finding]:
    """Run the rules on a fusion, or on all fusions of a capture and on the errors that nvFuser printed.

    ``select`` names the rules to run (all where it is empty), ``ignore`` those not to. The findings come in the order
    of the fusions, then of the rules, then of groups, expressions and tensors; those outside every fusion come first.

    Raises SegscopeError for a name of no rule.
    """
    rules = choose(select, ignore)
    found: list[Finding] = []
    for rule in rules.values():
        if isinstance(fusion_or_capture, SegmentedFusion):
            found += rule().run(fusion_or_capture)
            continue
        found += rule().run_on_errors(fusion_or_capture)
        for fusion in fusion_or_capture.fusions:
            found += rule().run(fusion)
    place = {name: position for position, name in enumerate(rules)}
    return sorted(
        found,
        key=lambda f: (
            -1 if f.fusion is None else f.fusion,
            place.get(f.rule, len(place)),
            f.groups,
            f.expressions,
            f.tensors,
            f.message,
        ),
    )
