"""Findings as text for people, programs, GitHub and test reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from segscope.checks.finding import Finding


@dataclass(frozen=True)
class Report:
    """What rules found in one file."""

    source: str
    """The file."""
    lines: dict[int, int]
    """The line of the file at which each fusion begins, by index."""
    rules: tuple[str, ...]
    """Names of the rules that ran."""
    findings: tuple[Finding, ...]
    strict: bool
    """Whether every finding breaks its rule, not only an error."""

    def breaks(self, finding: Finding) -> bool:
        """Say whether the finding breaks its rule."""
        return self.strict or finding.severity == "error"

    @property
    def broken(self) -> tuple[str, ...]:
        """The rules that are broken, in the order in which they ran."""
        names = {finding.rule for finding in self.findings if self.breaks(finding)}
        return tuple(name for name in self.rules if name in names)

    @property
    def kept(self) -> tuple[str, ...]:
        """The rules that are not broken."""
        return tuple(name for name in self.rules if name not in self.broken)


def as_text(report: Report) -> str:
    """One finding a line, what to do about it below, and last how many rules are kept and broken."""
    lines = []
    for finding in report.findings:
        size = "" if finding.bytes is None else f" ({finding.bytes:,} bytes)"
        option = f" [{finding.option}]" if finding.option else ""
        lines += [f"{finding}{size}", f"    {finding.advice}{option}"]
    return "\n".join([*lines, f"{len(report.kept)} kept, {len(report.broken)} broken"])


def as_json(report: Report) -> str:
    """An object: the source, the rules that are kept and those that are broken, and the findings with all fields."""
    findings = [finding.model_dump(mode="json") for finding in report.findings]
    whole = {"source": report.source, "kept": report.kept, "broken": report.broken, "findings": findings}
    return json.dumps(whole, indent=1)


def as_github(report: Report) -> str:
    """One workflow command a finding, which GitHub shows beside the file; it stands at the fusion's first line.

    Source: "Workflow commands for GitHub Actions", and ``@actions/core`` for what must be escaped.
    """
    commands = {"error": "error", "warning": "warning", "note": "notice"}
    lines = []
    for finding in report.findings:
        properties = {
            "file": report.source,
            "line": str(report.lines.get(-1 if finding.fusion is None else finding.fusion, 1)),
            "title": f"segscope {finding.rule}",
        }
        listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        place = "" if finding.fusion is None else f"fusion {finding.fusion}: "
        lines.append(f"::{commands[finding.severity]} {listed}::{_data(f'{place}{finding.message}; {finding.advice}')}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_junit(report: Report) -> str:
    """A test suite with one test case a rule; what breaks it is its failure, other findings are its output."""
    from xml.etree import ElementTree

    suite = ElementTree.Element(
        "testsuite", name="segscope check", tests=str(len(report.rules)), failures=str(len(report.broken)), errors="0"
    )
    for rule in report.rules:
        case = ElementTree.SubElement(suite, "testcase", classname=_printable(report.source), name=rule)
        found = [finding for finding in report.findings if finding.rule == rule]
        breaking = [finding for finding in found if report.breaks(finding)]
        if breaking:
            failure = ElementTree.SubElement(case, "failure", message=_printable(breaking[0].message))
            failure.text = _printable("\n".join(f"{finding}\n    {finding.advice}" for finding in breaking))
        if others := [finding for finding in found if not report.breaks(finding)]:
            ElementTree.SubElement(case, "system-out").text = _printable("\n".join(map(str, others)))
    ElementTree.indent(suite, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")


def _printable(text: str) -> str:
    return "".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


FORMATS: Final[dict[str, Callable[[Report], str]]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "junit": as_junit,
}


def report_lines(rules: Sequence[tuple[str, str, str]]) -> str:
    """Explain rules (name, severity, summary), one a line, in columns."""
    width = max(len(name) for name, _, _ in rules)
    return "\n".join(f"{name:{width}}  {severity:7}  {summary}" for name, severity, summary in rules)
