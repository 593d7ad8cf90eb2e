"""Findings as text for people, programs, GitHub and test reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from segscope.checks.finding import Finding
from segscope.model import Capture


@dataclass(frozen=True)
class Report:
    """What rules found in captures."""

    captures: Sequence[Capture]
    """Their ``source`` is the file that a report names."""
    rules: tuple[str, ...]
    """Names of the rules that ran."""
    findings: tuple[Finding, ...]
    strict: bool
    """Whether every finding breaks its rule, not only an error."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The files, each once."""
        return tuple(dict.fromkeys(capture.source for capture in self.captures))

    def breaks(self, finding: Finding) -> bool:
        """Say whether the finding breaks its rule."""
        return self.strict or finding.severity == "error"

    @property
    def broken(self) -> tuple[str, ...]:
        """The rules that are broken in any of the files, in the order in which they ran."""
        names = {finding.rule for finding in self.findings if self.breaks(finding)}
        return tuple(name for name in self.rules if name in names)

    @property
    def kept(self) -> tuple[str, ...]:
        """The rules that are not broken."""
        broken = self.broken
        return tuple(name for name in self.rules if name not in broken)


def as_text(report: Report) -> str:
    """One finding a line, what to do about it below, and last how many rules are kept and broken.

    Each begins with its file where there are several. Advice that findings in a row share stands below their last.
    """
    lines = []
    for (advice, option), findings in groupby(report.findings, lambda finding: (finding.advice, finding.option)):
        for finding in findings:
            source = f"{finding.source}: " if len(report.sources) > 1 else ""
            size = "" if finding.bytes is None else f" ({finding.bytes:,} bytes)"
            lines.append(f"{source}{finding}{size}")
        lines.append(f"    {advice}{f' [{option}]' if option else ''}")
    return "\n".join([*lines, f"{len(report.kept)} kept, {len(report.broken)} broken"])


def as_json(report: Report) -> str:
    """An object, the same for one file and for several.

    ``sources`` are the files, ``kept`` and ``broken`` the names of the rules that are so over all of them, ``findings``
    an array of findings with all fields; each names its file as ``source``.
    """
    findings = [finding.model_dump(mode="json") for finding in report.findings]
    whole = {"sources": report.sources, "kept": report.kept, "broken": report.broken, "findings": findings}
    return json.dumps(whole, indent=1)


def as_github(report: Report) -> str:
    """One workflow command a finding, which GitHub shows beside the file; it stands at the fusion's first line."""
    commands = {"error": "error", "warning": "warning", "note": "notice"}
    first_lines = {
        (capture.source, fusion.index): fusion.first_line for capture in report.captures for fusion in capture.fusions
    }
    lines = []
    for finding in report.findings:
        properties = {
            "file": finding.source,
            "line": str(1 if finding.fusion is None else first_lines.get((finding.source, finding.fusion), 1)),
            "title": f"segscope {finding.rule}",
        }
        place = "" if finding.fusion is None else f"fusion {finding.fusion}: "
        text = f"{place}{finding.message}; {finding.advice}"
        lines.append(github_command(commands[finding.severity], properties, text))
    return "\n".join(lines)


def github_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """Return a workflow command: ``::warning file=a.txt,line=1::text``, with what must be escaped escaped.

    Source: "Workflow commands for GitHub Actions", and ``@actions/core`` for what must be escaped.
    """
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_junit(report: Report) -> str:
    """A test suite with one test case a file and rule; what breaks it is its failure, other findings are its output."""
    from xml.etree import ElementTree

    found: dict[tuple[str, str], list[Finding]] = {(s, rule): [] for s in report.sources for rule in report.rules}
    for finding in report.findings:
        found.setdefault((finding.source, finding.rule), []).append(finding)
    suite = ElementTree.Element("testsuite", name="segscope check", tests=str(len(found)), errors="0")
    failures = 0
    for (source, rule), findings in found.items():
        case = ElementTree.SubElement(suite, "testcase", classname=_printable(source), name=rule)
        if breaking := [finding for finding in findings if report.breaks(finding)]:
            failures += 1
            failure = ElementTree.SubElement(case, "failure", message=_printable(breaking[0].message))
            failure.text = _printable("\n".join(f"{finding}\n    {finding.advice}" for finding in breaking))
        if others := [finding for finding in findings if not report.breaks(finding)]:
            ElementTree.SubElement(case, "system-out").text = _printable("\n".join(map(str, others)))
    suite.set("failures", str(failures))
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
