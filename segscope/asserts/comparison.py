"""What pytest says of ``assert fusion.count("pointwise") == 2`` where it fails."""

from __future__ import annotations

from segscope.asserts.groups import renamed
from segscope.asserts.message import groups_text
from segscope.model import Capture
from segscope.model.count import Count


def compared(operator: str, left: object, right: object) -> tuple[list[str], str]:
    """Return a few lines that explain a comparison with counts, and the groups that were counted as text.

    The lines are few because pytest cuts what is long; both are empty where neither side is a count.
    """
    counts = [side for side in (left, right) if isinstance(side, Count)]
    if not counts:
        return [], ""
    lines = [f"{left!r} {operator} {right!r}", *(_described(count) for count in counts)]
    for count in counts:
        if not count.counted.complete:
            lines.append("the dump is incomplete: what is missing is not counted")
        if count == 0 and count.scheduler and (note := renamed(count.scheduler, count.counted)):
            lines.append(note)
    return lines, "\n\n".join(groups_text(count.counted) for count in counts)


def _described(count: Count) -> str:
    what = "kernel" if count.scheduler is None else count.scheduler
    place = count.counted.source if isinstance(count.counted, Capture) else str(count.counted)
    return f"{int(count)} {what} {'group' if count == 1 else 'groups'} in {place}"
