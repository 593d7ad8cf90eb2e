"""How the groups came to be: which merge grew from which, read from the segmenter's log.

Source: docs/dump-format.md sections 3.2 (the log) and 4 (the order in which nvFuser merges).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from segscope.checks.facts import tensors_of
from segscope.model import Expr, SegmentedFusion, Trial
from segscope.model.base import Model


class Merge(Model):
    """Groups that nvFuser joined into one."""

    trial: int
    """Position in ``fusion.log.trials``, from 0, of the first trial that accepted the set."""
    executed: int
    """Position of the next trial that accepted it: when a merge is made, the new group is asked for its scheduler.

    Trials in between do not know of the merge: nvFuser collects the merges of a round and makes them at its end."""
    accepted: str
    """The scheduler that accepted it."""
    outputs: tuple[str, ...]
    """What the merged group computes, in the order of the log: tensors, and the scalars that it needs."""
    expr_ids: tuple[int, ...]
    """Ids of those of its expressions that are in the segmented fusion."""
    parts: tuple[int, ...]
    """Indices into ``History.merges`` of the earlier merges that it swallowed; the rest were single expressions."""


class History(Model):
    """The merges of a fusion: a forest, each merge in at most one later one."""

    merges: tuple[Merge, ...]
    """In order of time."""
    groups: tuple[int | None, ...]
    """For each group of the fusion the merge that it is, an index into ``merges``.

    None where no merge in the log has its expressions: it is a single expression, a chain behind an input that nvFuser
    forwarded, or changed after the last merge (``NVFUSER_ENABLE=io_to_lower_precision`` adds casts), or the log is cut
    off."""


def history(fusion: SegmentedFusion) -> History | None:
    """Return the merges of a fusion; None where the segmenter's log was not printed.

    The log names what is tried, not what is merged. A set of several tensor expressions is taken for a merge where

    * a trial accepted it that is not one of the last, which ask every final group for its scheduler once more;
    * a later trial accepted it again, as happens when the merge is made;
    * one group of the fusion holds all of it.

    A set that was accepted once was a candidate that was not taken, or the log is cut off before the merge was made.

    What cannot be told: whether three or more were joined at once or step by step, if no step was a trial of its own;
    whether a set within one group that was accepted twice was a candidate both times (no known nvFuser does that);
    where casts and squeezes that nvFuser copied and took back went: they have names in the log, and no ids. Expressions
    behind a forwarded input belong to no group until each of their readers takes them on, at the end.
    """
    if fusion.log is None:
        return None
    trials = fusion.log.trials
    scalars = {expr.id for expr in fusion.exprs if expr.is_scalar}
    groups = [frozenset(group.expr_ids) - scalars for group in fusion.groups]
    made_by = {name: expr.id for expr in fusion.exprs for name in expr.outputs}
    end = len(trials) - _asked_again(trials, groups, scalars)
    merges: list[Merge] = []
    roots: dict[int, frozenset[str]] = {}
    for tensors, (first, *again) in _accepted(trials).items():
        trial = trials[first]
        several = len({made_by.get(name, name) for name in tensors}) > 1
        if first >= end or not (again and several and any(group.issuperset(_ids(trial, scalars)) for group in groups)):
            continue
        parts = tuple(index for index, held in roots.items() if held < tensors)
        for part in parts:
            del roots[part]
        roots[len(merges)] = tensors
        merges.append(
            Merge(
                trial=first,
                executed=again[0],
                accepted=trial.accepted or "",
                outputs=trial.outputs,
                expr_ids=trial.expr_ids,
                parts=parts,
            )
        )
    grown = {ids: index for index in roots if (ids := _ids(trials[merges[index].trial], scalars))}
    return History(merges=tuple(merges), groups=tuple(map(grown.get, groups)))


def _accepted(trials: Sequence[Trial]) -> dict[frozenset[str], list[int]]:
    """Return for each set of tensors that was accepted the positions of the trials that did."""
    found: dict[frozenset[str], list[int]] = {}
    for position, trial in enumerate(trials):
        if trial.accepted:
            found.setdefault(frozenset(tensors_of(trial.outputs)), []).append(position)
    return found


def _asked_again(trials: Sequence[Trial], groups: Sequence[frozenset[int]], scalars: set[int]) -> int:
    """Return how many trials at the end ask the final groups for their schedulers; 0 in a log that is cut off."""
    last = Counter(_ids(trial, scalars) for trial in trials[-len(groups) :])
    return len(groups) if last == Counter(groups) else 0


def _ids(trial: Trial, scalars: set[int]) -> frozenset[int]:
    return frozenset(trial.expr_ids) - scalars


def history_tree(fusion: SegmentedFusion, history: History) -> str:
    """Return the merges as text: each group, under it what it grew from, under that what that grew from.

    Trials are numbered from 1, as one counts them in the log. Scalars are left out.
    """
    lines: list[str] = []
    for group, merge in zip(fusion.groups, history.groups, strict=True):
        title = f"{group.label} {group.scheduler}"
        if merge is None:
            exprs = (expr for expr in fusion.exprs_of(group) if not expr.is_scalar)
            lines.append(f"{title}: {' + '.join(map(_label, exprs))}")
        else:
            lines += [title, *_branch(fusion, history, merge)]
    swallowed = {part for merge in history.merges for part in merge.parts}
    rest = [i for i in range(len(history.merges)) if i not in swallowed and i not in history.groups]
    if rest:
        lines.append("merges of which the log does not tell the group")
    for merge in rest:
        lines += _branch(fusion, history, merge)
    return "".join(f"{line}\n" for line in lines)


def _branch(fusion: SegmentedFusion, history: History, root: int) -> list[str]:
    """Return a line for a merge and, indented below it, for each that it swallowed."""
    labels = {name: _label(expr) for expr in fusion.exprs for name in expr.outputs}
    lines = []
    left = [(root, 1)]
    while left:
        index, depth = left.pop()
        merge = history.merges[index]
        joined = {name: part for part in merge.parts for name in history.merges[part].outputs}
        parts = dict.fromkeys(joined.get(name, name) for name in tensors_of(merge.outputs))
        words = dict.fromkeys(
            f"trial {history.merges[part].trial + 1}" if isinstance(part, int) else labels.get(part, f"{part} (a copy)")
            for part in parts
        )
        head = f"trial {merge.trial + 1} (executed as {merge.executed + 1}) {merge.accepted}"
        lines.append(f"{'  ' * depth}{head}: {' + '.join(words)}")
        left += [(part, depth + 1) for part in reversed(parts) if isinstance(part, int)]
    return lines


def _label(expr: Expr) -> str:
    return f"{', '.join(expr.tensor_outputs)} {expr.operation}"
