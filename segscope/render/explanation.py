"""Explanations, merges and headroom as text for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from segscope.checks.facts import listed, tensors_of, way
from segscope.explain.counterfactual import Counterfactual
from segscope.explain.headroom import Bound, Headroom, rules_of
from segscope.explain.history import History, history_tree
from segscope.explain.merge import MergeAnswer
from segscope.explain.reasons import Explanation, Kind
from segscope.explain.tried import in_words
from segscope.explain.verify import Answer
from segscope.model import SegmentedFusion
from segscope.render.words import count

_TITLES: Final[dict[Kind, str]] = {
    "refused": "the schedulers refused to have both in one kernel",
    "hint": "a hint to cut",
    "boundary": "a slice, pad or the like must read an input of its kernel",
    "reduction": "reductions that do not fit together",
    "reshape": "reshapes that do not fit together",
    "operation": "an operation that is a kernel of its own",
    "cycle": "as one they would wait for other groups, and those for them",
    "no kernel": "no kernel would be saved",
    "legal": "no rule that segscope knows is against a merge",
}


def explanation_lines(fusion: SegmentedFusion, explanation: Explanation) -> Iterator[str]:
    """Yield the reasons by kind, the strongest first; then what an early merge blocked, and the merges as a tree."""
    labels = [group.label for group in fusion.groups]
    for kind, number in explanation.counts.items():
        yield f"{count(number, 'cut')}: {_TITLES[kind]}"
        for reason in explanation.reasons:
            if reason.kind == kind:
                over = ", ".join(reason.values)
                yield f"  {labels[reason.source]} -> {labels[reason.target]} over {over}: {reason.text}"
    if explanation.history is None:
        return
    if explanation.blocked:
        yield "merges that an earlier merge made impossible"
    for blocked in explanation.blocked:
        why = "it was so from the beginning"
        if blocked.early is not None:
            why = f"since {_merge(explanation.history, blocked.early)}"
        by = way(fusion, blocked.path, blocked.values)
        yield f"  {labels[blocked.source]} with {labels[blocked.target]} over {blocked.value}, by {by}: {why}"
    if explanation.counterfactuals:
        yield "segmented anew without these earlier merges"
    for counterfactual in explanation.counterfactuals:
        yield f"  {_without(explanation.history, counterfactual)}"
    yield "groups, and the merges that they grew from"
    yield from (f"  {line}" for line in history_tree(fusion, explanation.history).splitlines())


def _merge(history: History, index: int) -> str:
    merge = history.merges[index]
    return f"trial {merge.trial + 1} joined {', '.join(tensors_of(merge.outputs))}"


def _without(history: History, counterfactual: Counterfactual) -> str:
    merges = [history.merges[index] for index in counterfactual.merges]
    named = [f"trial {merge.trial + 1} ({{{' '.join(tensors_of(merge.outputs))}}})" for merge in merges]
    (before, after), (others, left) = counterfactual.kernel_groups, counterfactual.others
    text = f"refusing {listed(named)}: {before} -> {after} kernel groups, {others} -> {left} others"
    if counterfactual.unknown:
        text += f"; nothing is known of {count(counterfactual.unknown, 'set')} on the way"
    return text


def merge_lines(fusion: SegmentedFusion, answer: MergeAnswer) -> Iterator[str]:
    """Yield what would become of groups as one."""
    labels = [group.label for group in fusion.groups]
    names = " with ".join(labels[index] for index in answer.groups)
    yield f"{names}:"
    if answer.trial is not None:
        said = f"{answer.accepted} accepted" if answer.accepted else in_words(answer.refusals)
        yield f"  trial {answer.trial + 1} offered them as one: {said}"
    if answer.is_legal:
        yield "  closes no cycle and breaks no rule that segscope knows"
    if not answer.connected:
        yield "  does not hang together over what it computes"
    if answer.path:
        along = ", ".join(labels[index] for index in answer.along)
        yield f"  closes a cycle: {way(fusion, answer.path, answer.values)}; with {along} along it would not"
    for broken in answer.broken:
        yield f"  breaks {broken.rule}: {broken.text}"


def headroom_rows(found: Headroom) -> list[tuple[str, str, str, str]]:
    """Return a header and a row for each bound: the rules, what a group is, how few kernels, and how that is known."""
    rows = [("RULES", "GROUPS", "KERNELS", "KNOWN BY"), ("as segmented", "", str(found.kernel_groups), "the dump")]
    for bound in found.bounds:
        rows.append((bound.rules, _notion(bound), _fewest(bound), _known_by(bound)))
    return rows


def headroom_legend(fusion: SegmentedFusion) -> tuple[str, ...]:
    """Return what the words in the rows mean, and which rules hold in the dump (``rules_of``)."""
    meant = {
        "boundary": "a slice or pad reads an input of its kernel",
        "resize": "a slice or pad may read what its kernel computes",
    }
    held = rules_of(fusion)
    rules = (f"{name}: {text}{', as in this dump' if name == held else ''}" for name, text in meant.items())
    return (*rules, "connected: each kernel hangs together over what it computes; free: it may hold anything")


def _notion(bound: Bound) -> str:
    return "connected" if bound.connected else "free"


def _fewest(bound: Bound) -> str:
    return str(bound.fewest) if bound.exact else f"{bound.at_least} to {bound.fewest}"


def _known_by(bound: Bound) -> str:
    if bound.method == "path":
        return "a longest path"
    if bound.method == "greedy":
        return "joining greedily" + ("" if bound.exact else " (pip install 'segscope[solver]' for the fewest)")
    return "a search" if bound.exact else "a search that ran out of time"


def verdict_lines(bound: Bound, answers: Mapping[str, Answer]) -> Iterator[str]:
    """Yield what nvFuser said of each kernel group of a proof."""
    for label, answer in answers.items():
        group = next(group for group in bound.proof.groups if group.label == label)
        outputs = ", ".join(tensors_of(group.outputs))
        yield f"{bound.rules}, {_notion(bound)}: the kernel of {outputs}: {_verdict(answer)}"


def _verdict(answer: Answer) -> str:
    if answer.problem:
        return f"not asked about: {answer.problem}"
    if answer.accepted:
        without = f" (asked without {', '.join(answer.without)}, which is empty)" if answer.without else ""
        return f"{answer.accepted} accepts it{without}"
    return in_words(answer.refusals) or "refused, and nobody says why"


def table(rows: Sequence[Sequence[str]], *, markdown: bool) -> Iterator[str]:
    """Yield rows, the first of which is the header, in columns or as a Markdown table."""
    if markdown:
        yield from (f"| {' | '.join(row)} |" for row in rows[:1])
        yield "|" + "---|" * len(rows[0])
        yield from (f"| {' | '.join(row)} |" for row in rows[1:])
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
