"""Whether a segmentation is what headroom says, told from its groups alone: nothing of segscope.explain is used."""

from __future__ import annotations

from collections import defaultdict

from segscope.model import Expr, SegmentedFusion

MORE_BITS = {("half", "float"), ("bfloat", "float"), ("half", "double"), ("bfloat", "double"), ("float", "double")}


def flaws(original: SegmentedFusion, proof: SegmentedFusion, rules: str, *, connected: bool) -> list[str]:
    """Return what is wrong with ``proof`` as a segmentation of ``original``."""
    found = []
    homes: dict[int, list[int]] = defaultdict(list)
    for group in proof.groups:
        for number in group.expr_ids:
            homes[number].append(group.index)
    if set(homes) != {expr.id for expr in original.exprs}:
        found.append("not every expression is in a group")
    if proof.inputs != original.inputs or proof.outputs != original.outputs or proof.exprs != original.exprs:
        found.append("another fusion")
    for expr in proof.exprs:
        if len(homes[expr.id]) > 1 and not _repeatable(expr):
            found.append(f"{expr.outputs} is computed {len(homes[expr.id])} times")
    found += _order(proof)
    found += _stays(original, proof)
    copies = {
        frozenset(group.expr_ids) - _scalars(original)
        for group in original.kernel_groups
        if all(expr.is_metadata or expr.is_scalar for expr in original.exprs_of(group))
    }
    for group in proof.groups:
        exprs = proof.exprs_of(group)
        ids = frozenset(group.expr_ids) - _scalars(original)
        if group.scheduler not in ("pointwise", "resize", "transpose") or ids in copies:
            continue
        made = {name: expr for expr in exprs for name in expr.outputs}
        for expr in exprs:
            read = expr.tensor_inputs[0] if expr.tensor_inputs else ""
            looks_up = expr.kind in ("select", "index_select", "gather")
            cuts = rules == "boundary" and expr.kind in ("slice", "pad") and _resizes(proof, expr)
            if (looks_up or cuts or expr.kind == "segmenter_set") and read in made:
                found.append(f"{expr.kind} {expr.outputs} reads {read}, which its kernel computes")
        if connected and not _hangs_together(exprs, made, set(group.outputs)):
            found.append(f"the kernel of {group.outputs} does not hang together")
    return found


def _order(proof: SegmentedFusion) -> list[str]:
    """Groups come in an order in which they can run, so none waits for itself; every value has one source."""
    found = []
    written: dict[str, int] = {}
    for group in proof.groups:
        made = {name for expr in proof.exprs_of(group) for name in expr.outputs}
        for expr in proof.exprs_of(group):
            for name in expr.tensor_inputs:
                if name not in made and name not in proof.inputs and name not in written:
                    found.append(f"{name} is read by #{group.index} before it is written")
                if name not in made and name not in group.inputs:
                    found.append(f"{name} is no input of #{group.index}")
        for name in group.outputs:
            if name not in made:
                found.append(f"{name} is written by #{group.index} and not computed there")
            if name in written:
                found.append(f"{name} is written twice")
            written[name] = group.index
    expected = {
        (written[name], group.index, name) for group in proof.groups for name in group.inputs if name in written
    }
    if {(edge.source, edge.target, edge.value) for edge in proof.edges} != expected:
        found.append("edges are not those of the inputs and outputs")
    found += [
        f"output {name} is not written" for name in proof.outputs if name not in written and name not in proof.inputs
    ]
    return found


def _stays(original: SegmentedFusion, proof: SegmentedFusion) -> list[str]:
    """Groups of other schedulers keep what they compute, and nothing joins them."""
    kept = {}
    for fusion in (original, proof):
        kept[fusion is proof] = sorted(
            (group.scheduler, tuple(sorted(e.id for e in fusion.exprs_of(group) if not _repeatable(e))))
            for group in fusion.kernel_groups
            if group.scheduler not in ("pointwise", "resize", "transpose")
        )
    return [] if kept[True] == kept[False] else ["a group that must stay has changed"]


def _hangs_together(exprs: tuple[Expr, ...], made: dict[str, Expr], written: set[str]) -> bool:
    """Whether one work reaches every other over values, where what may be repeated is passed through downwards only.

    A cast that the kernel writes is not repeated.
    """
    work = [expr.id for expr in exprs if not _repeatable(expr) or not written.isdisjoint(expr.outputs)]
    near: dict[int, set[int]] = {number: set() for number in work}
    for expr in exprs:
        if expr.id not in near:
            continue
        left = list(expr.inputs)
        while left:
            maker = made.get(left.pop())
            if maker is None:
                continue
            if maker.id in near:
                near[expr.id].add(maker.id)
                near[maker.id].add(expr.id)
            else:
                left += maker.inputs
    reached, left_ids = set(work[:1]), work[:1]
    while left_ids:
        more = near[left_ids.pop()] - reached
        reached |= more
        left_ids += more
    return not work or reached == set(work)


def _scalars(fusion: SegmentedFusion) -> frozenset[int]:
    return frozenset(expr.id for expr in fusion.exprs if expr.is_scalar)


def _repeatable(expr: Expr) -> bool:
    up_cast = expr.kind == "cast" and (expr.attributes.get("from"), expr.attributes.get("to")) in MORE_BITS
    return expr.is_scalar or expr.is_metadata or up_cast


def _resizes(fusion: SegmentedFusion, expr: Expr) -> bool:
    before = [dim.extent for dim in fusion.tensors[expr.tensor_inputs[0]].domain]
    after = [dim.extent for dim in fusion.tensors[expr.tensor_outputs[0]].domain]
    return before != after


def dead(proof: SegmentedFusion) -> list[str]:
    """Return what kernels compute on tensors and neither write nor use."""
    found = []
    for group in proof.kernel_groups:
        used = set(group.outputs)
        for expr in reversed(proof.exprs_of(group)):
            if used.isdisjoint(expr.outputs):
                found += expr.tensor_outputs
            else:
                used.update(expr.inputs)
    return found
