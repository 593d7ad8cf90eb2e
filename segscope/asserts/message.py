"""What a failed assertion says: what was asked, what is there, the groups, and the findings that bear on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NoReturn

from segscope.asserts.checked import Checked
from segscope.checks import Finding, check
from segscope.model import Capture, SegmentedFusion

__tracebackhide__ = True

_WIDTH: Final = 120
_MOST_LINES: Final = 60
_MOST_FINDINGS: Final = 8
_SEVERITIES: Final = ("error", "warning", "note")

Concerned = Callable[[SegmentedFusion], set[int]]
"""The indices of the groups of a fusion that an assertion is about."""


def kernel_groups(fusion: SegmentedFusion) -> set[int]:
    """Return the indices of the kernel groups."""
    return {group.index for group in fusion.kernel_groups}


def fail(
    asked: str, found: str, checked: Checked, *details: str, concerned: Concerned | Iterable[int] = kernel_groups
) -> NoReturn:
    """Raise AssertionError: ``asked for ..., found ...``, details a line each, then what ``groups_text`` gives."""
    raise AssertionError(
        "\n".join([f"asked for {asked}, found {found}", *details, "", groups_text(checked, concerned)])
    )


def groups_text(checked: Checked, concerned: Concerned | Iterable[int] = kernel_groups) -> str:
    """Return the table of groups and the findings that are about the concerned groups alone, as plain text."""
    chosen = concerned if callable(concerned) else _always(concerned)
    fusions = checked.fusions if isinstance(checked, Capture) else (checked,)
    lines = _origin(checked)
    if len(fusions) > 1:
        lines += map(str, fusions)
    for fusion in fusions:
        lines += [*([""] if len(fusions) > 1 else []), str(fusion), *_table(fusion)]
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"... {len(lines) - _MOST_LINES} more lines: segscope show"]
    bearing = [finding for fusion in fusions for finding in check(fusion) if _bears(finding, chosen(fusion))]
    return "\n".join([*lines, *findings_lines(bearing)])


def findings_lines(findings: Sequence[Finding]) -> list[str]:
    """Return the findings, the gravest first, and last those about cuts that no rule explains."""
    if not findings:
        return []
    ordered = sorted(findings, key=_weight)
    lines = [f"  {finding}" for finding in ordered[:_MOST_FINDINGS]]
    if (more := len(ordered) - _MOST_FINDINGS) > 0:
        lines.append(f"  ... {more} more: segscope check")
    return ["", "findings", *lines]


def _weight(finding: Finding) -> tuple[int, bool, bool]:
    why = finding.rule == "resize-boundary"
    return _SEVERITIES.index(finding.severity), why, why and not finding.expressions


def _always(groups: Iterable[int]) -> Concerned:
    found = set(groups)
    return lambda fusion: found


def _bears(finding: Finding, groups: set[int]) -> bool:
    return bool(finding.groups) and groups.issuperset(finding.groups)


def _origin(checked: Checked) -> list[str]:
    """Say where a capture is from, and that its process ended badly where it did."""
    if not isinstance(checked, Capture):
        return []
    from segscope.render.words import capture_name

    made = checked.provenance
    if made is None or made.end.outcome == "ok":
        return [capture_name(checked)]
    how = made.end.how
    return [f"{capture_name(checked)}; the child process ended badly after this dump: {how}"]


def _table(fusion: SegmentedFusion) -> list[str]:
    from segscope.render.table import fusion_table, plain

    return plain(fusion_table(fusion), _WIDTH)
