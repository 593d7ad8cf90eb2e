"""What the page knows of a fusion, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, get_args

from segscope.checks import Finding, check
from segscope.checks.finding import Severity
from segscope.explain import explain
from segscope.model import Group, SegmentedFusion
from segscope.render import palette, timing, words

if TYPE_CHECKING:
    from segscope.compare.timing import Overlay

Facts = dict[str, Any]

_SEVERITIES: Final = get_args(Severity)

REASONS: Final = 500
"""Cuts of a fusion above which the page does not say why each is there: finding out takes minutes for thousands."""


def page_facts(fusion: SegmentedFusion, times: Overlay | None = None) -> Facts:
    """Return groups with their expressions, cuts with their reasons, tensors and findings; groups go by index."""
    return {
        "groups": [_group(fusion, group, times) for group in fusion.groups],
        "cuts": _cuts(fusion),
        "tensors": _tensors(fusion),
        "findings": _findings(check(fusion)),
    }


def _group(fusion: SegmentedFusion, group: Group, times: Overlay | None) -> Facts:
    kernel = fusion.launches_kernel(group)
    style = palette.kernel_style(group.scheduler) if kernel else palette.metadata_style(group.scheduler)
    measured = [*timing.time(fusion, group, times), words.traffic(fusion, group)]
    return {
        "label": group.label,
        "fill": style.fill,
        "border": style.border,
        "heading": words.heading(fusion, group),
        "operations": words.SEPARATOR.join(words.operations(fusion, group)),
        "size": words.SEPARATOR.join([words.expressions(fusion, group), *measured]),
        "reads": list(group.inputs),
        "writes": list(group.outputs),
        "expressions": [
            {"id": expr.id, "operation": expr.operation, "text": expr.text, "scalar": expr.is_scalar}
            for expr in sorted(fusion.exprs_of(group), key=lambda expr: expr.is_scalar)
        ],
    }


def _cuts(fusion: SegmentedFusion) -> list[Facts]:
    if len(fusion.cuts) <= REASONS:
        reasons: list[tuple[str, str]] = [(reason.kind, reason.text) for reason in explain(fusion).reasons]
    else:
        reasons = [("not asked", f"of more than {REASONS} cuts segscope explain tells why")] * len(fusion.cuts)
    return [
        {"source": cut.source, "target": cut.target, "tensors": list(cut.values), "kind": kind, "reason": text}
        for cut, (kind, text) in zip(fusion.cuts, reasons, strict=True)
    ]


def _tensors(fusion: SegmentedFusion) -> list[Facts]:
    made: dict[str, list[int]] = {}
    read: dict[str, list[int]] = {}
    for group in fusion.groups:
        exprs = fusion.exprs_of(group)
        for name in dict.fromkeys([*group.outputs, *(name for expr in exprs for name in expr.outputs)]):
            made.setdefault(name, []).append(group.index)
        for name in dict.fromkeys([*group.inputs, *(name for expr in exprs for name in expr.inputs)]):
            read.setdefault(name, []).append(group.index)
    roles = dict.fromkeys(fusion.inputs, "fusion input") | dict.fromkeys(fusion.outputs, "fusion output")
    return [
        {
            "name": name,
            "facts": " ".join(words.tensor_facts(fusion, name)),
            "role": roles.get(name, ""),
            "made": made.get(name, []),
            "read": read.get(name, []),
        }
        for name in dict.fromkeys([*fusion.tensors, *roles, *made, *read])
        if name in roles or name.startswith("T")
    ]


def _findings(findings: Sequence[Finding]) -> list[Facts]:
    fields = {"rule", "severity", "groups", "expressions", "tensors", "message", "advice", "option"}
    return [finding.model_dump(mode="json", include=fields) for finding in by_severity(findings)]


def by_severity(findings: Sequence[Finding]) -> list[Finding]:
    """Return errors, then warnings, then notes, each in their order."""
    return sorted(findings, key=lambda finding: _SEVERITIES.index(finding.severity))
