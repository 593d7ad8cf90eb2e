"""Run rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from segscope.checks.base import Check
from segscope.checks.facts import facts_of
from segscope.checks.finding import Finding, Findings, Severity
from segscope.checks.registry import choose, valid_severities
from segscope.errors import SegscopeError
from segscope.model import Capture, SegmentedFusion

Checked = SegmentedFusion | Capture | Sequence[Capture]


def check(
    checked: Checked,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    severities: Mapping[str, Severity] | None = None,
) -> Findings:
    """Run the rules on a fusion, or on captures: on all their fusions, and on the errors that nvFuser printed.

    Several captures are of the same thing, run again: rules also compare them with each other. ``select`` names the
    rules to run (all where it is empty), ``ignore`` those not to; ``severities`` sets other severities by rule. The
    findings come in the order of the captures, then of the fusions, the rules, groups, expressions and tensors; those
    outside every fusion come first.

    Raises SegscopeError for a name of no rule, and for what is no severity. No configuration is read.
    """
    return run_rules(choose(select, ignore), checked, valid_severities(severities or {}))


def run_rules(rules: Mapping[str, type[Check]], checked: Checked, severities: Mapping[str, Severity]) -> Findings:
    """Run these rules (from ``choose``, by name) as ``check`` does; ``severities`` are valid."""
    running = [rule() for rule in rules.values()]
    found: list[Finding] = []
    captures: Sequence[Capture] = ()
    if isinstance(checked, SegmentedFusion):
        found += _run(running, checked)
    else:
        captures = (checked,) if isinstance(checked, Capture) else checked
        if isinstance(captures, str) or not all(isinstance(capture, Capture) for capture in captures):
            raise SegscopeError("check takes a fusion, a capture, or captures: read a file with segscope.read(path)")
        for capture in captures:
            findings = [finding for rule in running for finding in rule.run_on_errors(capture)]
            findings += (finding for fusion in capture.fusions for finding in _run(running, fusion))
            found += (finding.model_copy(update={"source": capture.source}) for finding in findings)
        found += (finding for rule in running for finding in rule.run_on_captures(captures))
    found = [_with_severity(finding, severities) for finding in found]
    rule_places = {name: position for position, name in enumerate(rules)}
    source_places = {capture.source: position for position, capture in reversed(list(enumerate(captures)))}
    found.sort(
        key=lambda f: (
            source_places.get(f.source, -1),
            -1 if f.fusion is None else f.fusion,
            rule_places.get(f.rule, len(rule_places)),
            f.groups,
            f.expressions,
            f.tensors,
            f.message,
        ),
    )
    return Findings(found)


def _run(rules: list[Check], fusion: SegmentedFusion) -> Iterator[Finding]:
    facts = facts_of(fusion)  # held here, so all rules have the same
    for rule in rules:
        yield from rule.run(facts.fusion)


def _with_severity(finding: Finding, severities: Mapping[str, Severity]) -> Finding:
    severity = severities.get(finding.rule, finding.severity)
    return finding if severity == finding.severity else finding.model_copy(update={"severity": severity})
