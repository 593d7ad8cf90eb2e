"""A diff as text for people, programs and GitHub."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from segscope.checks.report import github_command
from segscope.compare.diff import Diff, FusionDiff
from segscope.render.labels import printable


def as_text(diff: Diff) -> str:
    """The summary, the groups by scheduler, and one change a line; of several fusions, those that differ."""
    lines = [str(diff)]
    if not diff.is_same:
        counts = ", ".join(f"{name} {before} -> {after}" for name, before, after in _counts(diff))
        lines += [f"groups {diff.before.groups} -> {diff.after.groups}: {counts}", *_changes(diff)]
    return "\n".join(map(printable, lines))


def as_markdown(diff: Diff) -> str:
    """The same as a heading, a table and a block of lines."""
    lines = [f"## {diff}", "", "| groups | before | after |", "|---|---|---|"]
    lines += [f"| {name} | {before} | {after} |" for name, before, after in _counts(diff)]
    lines.append(f"| all | {diff.before.groups} | {diff.after.groups} |")
    if changes := list(_changes(diff)):
        lines += ["", "```text", *changes, "```"]
    return "\n".join(map(printable, lines))


def as_json(diff: Diff) -> str:
    """An object: the summary, whether it is the same and the dumps whole, both sides, and for each pair its changes.

    ``before`` and ``after`` of a pair are the fusions' positions, null where there is none.
    """
    whole = diff.model_dump(mode="json", exclude={"fusions": {"__all__": {"before", "after"}}})
    for record, fusion in zip(whole["fusions"], diff.fusions, strict=True):
        record["before"] = None if fusion.before is None else fusion.before.index
        record["after"] = None if fusion.after is None else fusion.after.index
    return json.dumps({"summary": str(diff), "is_same": diff.is_same, "complete": diff.complete, **whole}, indent=1)


def as_github(diff: Diff) -> str:
    """One workflow command for the summary, a warning where there are more kernel groups, and one a change.

    GitHub shows them beside the second file, at the fusion's first line.
    """
    more = diff.after.kernel_groups > diff.before.kernel_groups
    lines = [_command("warning" if more else "notice", diff.after.source, 1, "", str(diff))]
    for fusion in diff.fusions:
        line = fusion.after.first_line if fusion.after else 1
        lines += [_command("notice", diff.after.source, line, c.kind, c.explain()) for c in fusion.changes]
    return "\n".join(lines)


def _command(level: str, file: str, line: int, kind: str, text: str) -> str:
    title = f"segscope diff {kind}".rstrip()
    properties = {"file": file, "line": str(line), "title": title} if file else {"title": title}
    return github_command(level, properties, text)


def _counts(diff: Diff) -> Iterator[tuple[str, int, int]]:
    """Yield each scheduler with how many groups it has on each side."""
    before, after = diff.before.schedulers, diff.after.schedulers
    for name in dict.fromkeys((*before, *after)):
        yield name, before.get(name, 0), after.get(name, 0)


def _changes(diff: Diff) -> Iterator[str]:
    """Yield one change a line; where there are several fusions, below a line that says which."""
    for fusion in diff.fusions:
        if fusion.is_same:
            continue
        if len(diff.fusions) > 1:
            yield _heading(fusion)
        indent = "  " if len(diff.fusions) > 1 else ""
        yield from (f"{indent}{change.explain()}" for change in fusion.changes)


def _heading(fusion: FusionDiff) -> str:
    before, after = ("nothing" if f is None else f"fusion {f.index}" for f in (fusion.before, fusion.after))
    if not fusion.complete:
        detail = ": a dump is incomplete"
    elif fusion.changes:
        detail = ""
    else:
        detail = ": cut in the same way, but it computes something else in detail"
    return f"{before} -> {after}{detail}"


FORMATS: Final[dict[str, Callable[[Diff], str]]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
    "github": as_github,
}
