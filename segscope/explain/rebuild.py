"""A group of a segmented fusion, rebuilt so that nvFuser itself can be asked about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from segscope.explain.calls import call
from segscope.explain.known import Known
from segscope.explain.program import Input, Program, RebuildError
from segscope.model import Expr, SegmentedFusion


def rebuild(fusion: SegmentedFusion, expr_ids: Sequence[int], outputs: Sequence[str]) -> Program:
    """Rebuild expressions, in any order, as one program that writes ``outputs``.

    Its inputs are the tensors that the expressions read and do not define. Scalars become numbers. Tensors lie in
    memory as the dump tells, or row by row where it does not tell (before February 2026).

    Raises RebuildError for an operator that cannot be rebuilt, for an extent that is not constant, and for an output
    that the expressions do not define.
    """
    exprs = _in_order(fusion, expr_ids)
    known = Known(fusion)
    pads = _pads_of_cats(exprs, outputs)
    calls = tuple(call(expr, known, pads) for expr in exprs if not pads.keys() & expr.outputs)
    made = {name for expr in exprs for name in expr.outputs}
    if missing := [name for name in outputs if name not in made]:
        raise RebuildError(f"{missing[0]}: not defined by these expressions")
    if not outputs:
        raise RebuildError("a group without outputs")
    read = dict.fromkeys(name for expr in exprs for name in expr.tensor_inputs if name not in made)
    layouts = {name: layout for c in calls if not (layout := known.layout(name := c.output)).is_row_major}
    cats = [name for expr in exprs if expr.kind == "cat" for name in expr.tensor_inputs if name in pads]
    return Program(
        inputs=tuple(_input(known, name) for name in read),
        calls=calls,
        outputs=tuple(outputs),
        empty=tuple(name for name in cats if 0 in known.shape(pads[name].tensor_inputs[0])),
        layouts=layouts,
    )


def _in_order(fusion: SegmentedFusion, expr_ids: Sequence[int]) -> list[Expr]:
    """Return the expressions on tensors, and those of which it is not known, so that each comes after what it reads."""
    wanted = set(expr_ids)
    if unknown := wanted - {expr.id for expr in fusion.exprs}:
        raise RebuildError(f"fusion {fusion.index} has no expression {min(unknown)}")
    exprs = {expr.id: expr for expr in fusion.exprs if expr.id in wanted and (expr.tensor_outputs or not expr.outputs)}
    makers = {name: expr.id for expr in exprs.values() for name in expr.outputs}
    before = {expr.id: [makers[name] for name in expr.inputs if name in makers] for expr in exprs.values()}
    try:
        return [exprs[number] for number in TopologicalSorter(before).static_order()]
    except CycleError:
        raise RebuildError("expressions wait for each other") from None


def _pads_of_cats(exprs: Sequence[Expr], outputs: Sequence[str]) -> dict[str, Expr]:
    """Return the pads, by output, that a cat reads and nothing else."""
    readers = Counter(name for expr in exprs for name in expr.tensor_inputs)
    operands = {name for expr in exprs if expr.kind == "cat" for name in expr.tensor_inputs}
    return {
        name: expr
        for expr in exprs
        if expr.kind == "pad"
        for name in expr.outputs
        if name in operands and readers[name] == 1 and name not in outputs
    }


def _input(known: Known, name: str) -> Input:
    """A dimension that is not contiguous is laid out twice as wide: how wide it really is, is not printed."""
    shape, layout, dims = known.shape(name), known.layout(name), known.dims(name)
    strides, step = [0] * len(shape), 1
    for position, contiguous in reversed(list(zip(layout.order, layout.contiguity, strict=True))):
        if dims[position].expanded_extent is None:
            step *= 2 if contiguous is False else 1
            strides[position] = step
            step *= max(1, shape[position])
    return Input(name=name, shape=shape, layout=layout, strides=tuple(strides), dtype=known.dtype(name))
