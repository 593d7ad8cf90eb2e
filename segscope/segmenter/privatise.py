"""Copies of up-casts and squeezes: each reader gets its own before segmentation.

Source: ``privatizeUpCastOrSqueezeOp`` in csrc/fusion_segmenter.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence

from segscope.errors import SegscopeError
from segscope.model import Expr, SegmentedFusion
from segscope.segmenter.versions import Version
from segscope.segmenter.whole import Whole, renamed


def undone(fusion: SegmentedFusion, version: Version) -> Whole:
    """Return the fusion as nvFuser had it before it was segmented: as one group, copies folded back.

    Raises SegscopeError where the dump is not whole, or has statements that are not known.
    """
    if not fusion.complete:
        raise SegscopeError(f"fusion {fusion.index}: the dump is not whole, so the fusion cannot be undone")
    if unread := [expr.text for expr in fusion.exprs if not expr.outputs]:
        raise SegscopeError(f"fusion {fusion.index}: not understood, so the fusion cannot be undone: {unread[0][:80]}")
    whole = Whole(fusion, [expr for expr in fusion.exprs if not expr.is_scalar])
    if "private_casts" not in version:
        return whole
    alike: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    first: dict[str, str] = {}
    for node, expr in enumerate(whole.exprs):
        if is_copied(whole, node):
            reads = tuple(first.get(name, name) for name in expr.inputs)
            same = alike.setdefault((expr.op, reads, str(sorted(expr.attributes.items()))), [])
            same.append(expr.outputs[0])
            first[expr.outputs[0]] = same[0]
    originals = {name: min(same, key=number) for same in alike.values() for name in same}
    copies = {name: original for name, original in originals.items() if name != original}
    left = [renamed(expr, copies) for expr in whole.exprs if expr.outputs[0] not in copies]
    return Whole(fusion, left, spare_names=_spare_names(fusion, copies, left))


def is_copied(whole: Whole, node: int) -> bool:
    """Say whether an expression is of those that some version copies."""
    return whole.cast_direction(node) > 0 or whole.exprs[node].kind == "squeeze"


def _spare_names(fusion: SegmentedFusion, copies: dict[str, str], left: Sequence[Expr]) -> list[str]:
    """Return the names that nvFuser gave to copies: those in the dump, and those that only the log has."""
    known = {*fusion.inputs, *(name for expr in left for name in expr.outputs)}
    trials = fusion.log.trials if fusion.log else ()
    logged = {name for trial in trials for name in trial.outputs if name.startswith("T")}
    return sorted({*copies, *(logged - known)}, key=number)


def privatised(whole: Whole, version: Version) -> Whole:
    """Give each reader but the first its own copy of an up-cast, and of a squeeze that two read."""
    changed = "private_casts" in version
    while changed:
        after = _pass(whole, version)
        changed = len(after.exprs) > len(whole.exprs)
        whole = after
    return whole


def _pass(whole: Whole, version: Version) -> Whole:
    """Go once over the expressions, in order."""
    exprs, copy_of = list(whole.exprs), dict(whole.copy_of)
    read_by = {name: list(nodes) for name, nodes in whole.read_by.items()}
    unused_id = max(expr.id for expr in (*whole.source.exprs, *exprs)) + 1
    for node in range(len(whole.exprs)):
        for position in range(len(whole.reads[node])):
            name = exprs[node].tensor_inputs[position]
            maker = whole.made_by.get(name)
            if maker is None or len(read_by[name]) < 2 or node == read_by[name][0]:
                continue
            two_squeezes = "private_squeezes" in version and len(read_by[name]) == 2
            if not (whole.cast_direction(maker) > 0 or (two_squeezes and exprs[maker].kind == "squeeze")):
                continue
            copy = _new_name(whole, copy_of)
            copy_of[copy] = name
            made = renamed(exprs[maker], {name: copy}).model_copy(update={"id": unused_id + len(exprs)})
            exprs[node] = renamed(exprs[node], {name: copy})
            read_by[name].remove(node)
            for read in dict.fromkeys(made.tensor_inputs):
                read_by[read].append(len(exprs))
            exprs.append(made)
            read_by[copy] = [node]
    return Whole(whole.source, exprs, copy_of=copy_of, spare_names=whole.spare_names)


def _new_name(whole: Whole, copy_of: dict[str, str]) -> str:
    if len(copy_of) < len(whole.spare_names):
        return whole.spare_names[len(copy_of)]
    last = max(map(number, (*whole.source.tensors, *copy_of, *whole.spare_names)))
    return f"T{last + 1}"


def number(name: str) -> int:
    """Return the number in the name of a tensor."""
    return int(name[1:])
