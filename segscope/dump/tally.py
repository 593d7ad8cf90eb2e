"""Count groups without making models of them: what ``segscope count`` does, since it is to start at once."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import NamedTuple

from segscope.dump import is_json, statements
from segscope.dump.blocks import GroupBlock, SegmentsBlock
from segscope.dump.gather import Gather
from segscope.dump.scan import UnbalancedError
from segscope.dump.source import SourceReport, batches, chunks
from segscope.dump.values import Names
from segscope.vocabulary import launches_kernel


class GroupTally(NamedTuple):
    """What there is to count of a group."""

    scheduler: str
    launches_kernel: bool


def tally(path: str | Path) -> list[list[GroupTally]] | None:
    """Return the groups of each fusion in a file; None where it is no dump, or not whole: then ``read`` says more.

    Raises SegscopeError where the file cannot be read.
    """
    report = SourceReport()
    content = chunks(path, report)
    first = next(content, b"")
    if is_json(first):
        return None
    gather = Gather()
    fusions = []
    for found in gather.fusions(batches(chain([first], content), report)):
        if not _is_whole(found.segments):
            return None
        groups = [_group(group) for group in found.segments.groups]
        fusions.append([group for group in groups if group])
        if None in groups:
            return None
    return fusions if fusions and not gather.strays and not report.notes else None


def _is_whole(blocks: SegmentsBlock) -> bool:
    if (
        blocks.cut_off
        or blocks.interrupted
        or blocks.unusable
        or not blocks.groups
        or len(blocks.groups) != len(blocks.group_lines)
    ):
        return False
    listed = (blocks.listed_ids(position) for position in range(len(blocks.groups)))
    return all(
        ids == sorted(number for _, number in group.statements)
        for ids, group in zip(listed, blocks.groups, strict=True)
    )


def _group(block: GroupBlock) -> GroupTally | None:
    """Return what there is to count of a group; None where a statement is not known."""
    if block.scheduler != "expr_eval":
        return GroupTally(block.scheduler, launches_kernel(block.scheduler, ()))
    names = Names()
    read = (statements.parse(text.text, number, names) for text, number in block.statements)
    try:
        kinds = [record["kind"] for record in read if any(name.startswith("T") for name in record["outputs"])]
    except UnbalancedError:
        return None
    if "unknown" in kinds:
        return None
    return GroupTally(block.scheduler, launches_kernel(block.scheduler, kinds))
