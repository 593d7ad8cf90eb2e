"""What one group is like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from segscope.asserts.bounds import HowMany, bound
from segscope.asserts.checked import Checked, fusion_of
from segscope.asserts.dtypes import as_printed
from segscope.asserts.message import fail
from segscope.asserts.operations import check_operation, expressions
from segscope.asserts.selection import select
from segscope.checks.facts import listed
from segscope.errors import SegscopeError
from segscope.model import Expr, Group, SegmentedFusion
from segscope.several import several
from segscope.vocabulary import check_scheduler

__tracebackhide__ = True

Names = str | Sequence[str]
Wrong = Iterator[tuple[str, str]]
"""What was asked of a group, with what is there instead."""

_OTHERS: Final = "others"


def assert_group(
    fusion: Checked,
    group: str,
    *,
    scheduler: str | None = None,
    kernel: bool | None = None,
    inputs: HowMany | Sequence[str] | None = None,
    outputs: HowMany | Sequence[str] | None = None,
    input_dtypes: Names | None = None,
    output_dtypes: Names | None = None,
    operations: Mapping[str, HowMany] | None = None,
    first: Names | None = None,
    not_first: Names | None = None,
) -> None:
    """Assert what a group is like: ``assert_group(fusion, "cat", scheduler="resize", inputs="<=5")``.

    Args:
        fusion: a fusion, or a capture of one.
        group: a selector (``segscope.asserts.selection.select``); each group that it selects must be so.
        scheduler: the group's scheduler.
        kernel: whether it launches a kernel.
        inputs: how many values it reads (a number, or a bound as text), or a list of their names, in any order.
        outputs: the same of what it writes.
        input_dtypes: a dtype, or several, one of which each tensor that it reads has; as PyTorch names them
            (``"bfloat16"``) or as nvFuser prints them (``"__bfloat"``).
        output_dtypes: the same of what it writes.
        operations: how many expressions it has of each operation (``segscope.asserts.operations.expressions``), and
            besides those: ``{"cat": 1, "others": 0}``.
        first: operations that it begins with: it has such expressions, and they read no tensor that it computes.
        not_first: operations that it may have, but that all read a tensor that it computes.

    Raises:
        AssertionError: a group is not so, or the selector selects nothing.
        SegscopeError: a scheduler, operation, dtype or bound that is none; nothing is asked.
    """
    found = fusion_of(fusion)
    aspects: list[tuple[Callable[[SegmentedFusion, Group, Any], Wrong], object]] = [
        (_scheduler, scheduler),
        (_kernel, kernel),
        (_inputs, inputs),
        (_outputs, outputs),
        (_input_dtypes, input_dtypes),
        (_output_dtypes, output_dtypes),
        (_operations, operations),
        (_first, first),
        (_not_first, not_first),
    ]
    asking = [(aspect, value) for aspect, value in aspects if value is not None]
    if not asking:
        raise SegscopeError("assert_group: say what the group is like, as in scheduler='resize', inputs=3")
    named = {
        "input_dtypes": input_dtypes,
        "output_dtypes": output_dtypes,
        "operations": operations,
        "first": first,
        "not_first": not_first,
    }
    for name, given in named.items():
        if given is not None and not given:
            raise SegscopeError(f"assert_group: {name} is empty: name one, or leave it out")
    chosen = [found.groups[index] for index in sorted(select(found, group).groups)]
    wrong = [(g, *answer) for g in chosen for aspect, value in asking for answer in aspect(found, g, value)]
    if wrong:
        details = [f"{g.label}: asked for {asked}, found {there}" for g, asked, there in wrong[1:]]
        g, asked, there = wrong[0]
        concerned = {g.index for g, _, _ in wrong}
        fail(f"{asked} in {g.label}, selected by {group}", there, found, *details, concerned=concerned)


def _scheduler(fusion: SegmentedFusion, group: Group, asked: str) -> Wrong:
    check_scheduler(asked, fusion.schedulers)
    if group.scheduler != asked:
        yield f"scheduler {asked}", group.scheduler


def _kernel(fusion: SegmentedFusion, group: Group, asked: bool) -> Wrong:
    if fusion.launches_kernel(group) != asked:
        yield ("a kernel", "none") if asked else ("no kernel", "one")


def _inputs(fusion: SegmentedFusion, group: Group, asked: HowMany | Sequence[str]) -> Wrong:
    return _values("input", group.inputs, asked)


def _outputs(fusion: SegmentedFusion, group: Group, asked: HowMany | Sequence[str]) -> Wrong:
    return _values("output", group.outputs, asked)


def _values(what: str, listed_values: tuple[str, ...], asked: HowMany | Sequence[str]) -> Wrong:
    values = tuple(dict.fromkeys(listed_values))
    there = listed(values) if values else f"no {what}s"
    if isinstance(asked, int | str):
        limit = bound(asked)
        if not limit.holds(len(values)):
            yield limit.of(f"{what}s"), f"{len(values)}: {there}" if values else there
    elif sorted(asked) != sorted(values):
        yield (f"{what}s {listed(list(asked))}" if asked else f"no {what}s"), there


def _input_dtypes(fusion: SegmentedFusion, group: Group, asked: Names) -> Wrong:
    return _dtypes(fusion, "input", group.inputs, asked)


def _output_dtypes(fusion: SegmentedFusion, group: Group, asked: Names) -> Wrong:
    return _dtypes(fusion, "output", group.outputs, asked)


def _dtypes(fusion: SegmentedFusion, what: str, values: tuple[str, ...], asked: Names) -> Wrong:
    printed = as_printed(asked, (tensor.dtype for tensor in fusion.tensors.values()))
    dtypes = {name: fusion.tensors[name].dtype for name in values if name in fusion.tensors}
    if wrong := [f"{name} of {dtype}" for name, dtype in dtypes.items() if dtype not in printed]:
        yield f"{what}s of {' or '.join(several(asked))}", listed(wrong)


def _operations(fusion: SegmentedFusion, group: Group, asked: Mapping[str, HowMany]) -> Wrong:
    here = {expr.id: expr for expr in fusion.exprs_of(group) if not expr.is_scalar}
    left = dict(here)
    for word in (word for word in asked if word != _OTHERS):
        check_operation(fusion, word)
        exprs = [expr for expr in expressions(fusion, word) if expr.id in here]
        limit = bound(asked[word])
        if not limit.holds(len(exprs)):
            yield limit.of(word), str(len(exprs))
        for expr in exprs:
            left.pop(expr.id, None)
    if _OTHERS in asked and not (limit := bound(asked[_OTHERS])).holds(len(left)):
        yield limit.of("other operations"), f"{len(left)}: {_shown(left.values())}" if left else "none"


def _first(fusion: SegmentedFusion, group: Group, asked: Names) -> Wrong:
    for word in several(asked):
        first, later = _begins_with(fusion, group, word)
        if later:
            yield f"{word} first", f"{_shown(later)} after other operations"
        elif not first:
            yield f"{word} first", f"no {word}"


def _not_first(fusion: SegmentedFusion, group: Group, asked: Names) -> Wrong:
    for word in several(asked):
        first, _ = _begins_with(fusion, group, word)
        if first:
            yield f"no {word} first", f"{_shown(first)} first"


def _begins_with(fusion: SegmentedFusion, group: Group, word: str) -> tuple[list[Expr], list[Expr]]:
    """Return the group's expressions of an operation: those that read nothing that it computes, and the others."""
    check_operation(fusion, word)
    exprs = fusion.exprs_of(group)
    made = {name for expr in exprs for name in expr.tensor_outputs}
    here = [expr for expr in expressions(fusion, word) if expr in exprs]
    first = [expr for expr in here if made.isdisjoint(expr.inputs)]
    return first, [expr for expr in here if expr not in first]


def _shown(exprs: Iterable[Expr]) -> str:
    return listed([f"{expr.op} {', '.join(expr.outputs)}" for expr in exprs])
