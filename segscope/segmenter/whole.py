"""A fusion before segmentation: its expressions on tensors in nvFuser's order, with who makes and who reads what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from segscope.dump.casts import word
from segscope.errors import SegscopeError
from segscope.explain.known import Known
from segscope.model import Expr, SegmentedFusion, Tensor

_TENSOR: Final = re.compile(r"\bT\d+(?!\d)")
_BITS: Final = {
    "bool": 8,
    "e4m3": 8,
    "e5m2": 8,
    "half": 16,
    "bfloat": 16,
    "float": 32,
    "int32": 32,
    "double": 64,
    "int64": 64,
    "complex_float": 64,
    "complex_double": 128,
}


class Whole:
    """A fusion as one group. Nodes are positions in ``exprs``; values are names of tensors."""

    def __init__(
        self,
        source: SegmentedFusion,
        exprs: Sequence[Expr],
        *,
        copy_of: Mapping[str, str] | None = None,
        spare_names: Sequence[str] = (),
    ) -> None:
        """Take expressions on tensors, in any order.

        Raises SegscopeError where an expression leads to no output of the fusion or depends on itself, and where two
        define one tensor.
        """
        self.source = source
        self.inputs = tuple(name for name in source.inputs if name.startswith("T"))
        """The tensors among the fusion's inputs, in order."""
        self.outputs = tuple(name for name in source.outputs if name.startswith("T"))
        """The tensors among the fusion's outputs, in order."""
        self.copy_of = dict(copy_of or {})
        """The outputs of private copies, with those of what they are copies of."""
        self.spare_names = tuple(spare_names)
        """What copies are called in the dump or in its log, in order."""
        self.exprs = in_order(exprs, self.inputs, self.outputs)
        """The expressions on tensors, in the order in which nvFuser goes over them."""
        self.reads = [expr.tensor_inputs for expr in self.exprs]
        """For each node the values that it reads."""
        self.writes = [expr.tensor_outputs for expr in self.exprs]
        """For each node the values that it defines."""
        self.made_by = {name: node for node, names in enumerate(self.writes) for name in names}
        """The node that defines a value."""
        self.read_by: dict[str, list[int]] = {}
        """The nodes that read a value, each once, in order."""
        for node, names in enumerate(self.reads):
            for name in dict.fromkeys(names):
                self.read_by.setdefault(name, []).append(node)
        if len(self.exprs) < len(exprs):
            lost = [expr.outputs[0] for expr in exprs if expr.outputs[0] not in self.made_by]
            why = f"{min(lost)} leads to no output" if lost else "a tensor is defined twice"
            raise SegscopeError(f"fusion {source.index}: {why}, so the fusion cannot be undone")

    def tensor(self, name: str) -> Tensor:
        """Return what is known of a tensor, a copy's being that of the original.

        Raises SegscopeError where the dump does not tell.
        """
        found = self.source.tensors.get(self.copy_of.get(name, name))
        if found is None:
            raise SegscopeError(f"fusion {self.source.index}: the dump does not tell what {name} is")
        return found

    def original(self, name: str) -> str:
        """Return the name of a value, that of the original for a copy."""
        return self.copy_of.get(name, name)

    def names(self, nodes: Iterable[int]) -> tuple[str, ...]:
        """Return the values that nodes define."""
        return tuple(name for node in nodes for name in self.writes[node])

    def cast_direction(self, node: int) -> int:
        """Return 1 for a cast to more bits, -1 for one to fewer, 0 for every other expression."""
        expr = self.exprs[node]
        if expr.kind != "cast":
            return 0
        source = expr.attributes.get("from") or self._dtype(expr.tensor_inputs[0])
        before, after = _BITS.get(str(source), 32), _BITS.get(str(expr.attributes.get("to")), 32)
        return (after > before) - (after < before)

    @cached_property
    def known(self) -> Known:
        """What the dump tells of extents and layouts."""
        return Known(self.source)

    @cached_property
    def as_fusion(self) -> SegmentedFusion:
        """The same expressions, and the scalars, as a model without groups."""
        tensors = self.source.tensors | {
            copy: self.tensor(copy).model_copy(update={"name": copy}) for copy in self.copy_of
        }
        transforms = {found.tensor: found for found in self.source.transforms}
        more = [
            transforms[original].model_copy(update={"tensor": copy})
            for copy, original in self.copy_of.items()
            if original in transforms and copy not in transforms
        ]
        scalars = tuple(expr for expr in self.source.exprs if expr.is_scalar)
        return self.source.model_copy(
            update={
                "groups": (),
                "edges": (),
                "exprs": (*scalars, *self.exprs),
                "tensors": tensors,
                "transforms": (*self.source.transforms, *more),
                "log": None,
            }
        )

    def _dtype(self, name: str) -> str:
        return word(self.tensor(name).dtype or "")


def in_order(exprs: Iterable[Expr], inputs: Iterable[str], outputs: Sequence[str]) -> tuple[Expr, ...]:
    """Return what leads to the outputs, in the order in which nvFuser sorts expressions.

    Backwards from each output that leads to no other one, operands from left to right, each expression after what it
    reads. Source: ``StmtSort`` in csrc/iter_visitor.cpp, ``Fusion::getTerminatingOutputs`` in csrc/fusion.cpp.
    Raises SegscopeError where an expression depends on itself.
    """
    given = set(inputs)
    makers = {name: expr for expr in exprs for name in expr.tensor_outputs if name not in given}
    reads = {expr.id: expr.tensor_inputs for expr in makers.values()}
    found: dict[int, Expr] = {}
    entered: set[int] = set()
    for output in _terminating(outputs, makers, reads):
        stack = [(makers[output], False)] if output in makers else []
        while stack:
            expr, operands_done = stack.pop()
            if operands_done:
                found[expr.id] = expr
            elif expr.id not in found:
                if expr.id in entered:
                    raise SegscopeError(f"{expr.outputs[0]} depends on itself, so the fusion cannot be undone")
                entered.add(expr.id)
                stack.append((expr, True))
                stack += [(makers[name], False) for name in reversed(reads[expr.id]) if name in makers]
    return tuple(found.values())


def renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    """Return an expression with other values in place of some, in the text too."""
    if not any(name in names for name in (*expr.inputs, *expr.outputs)):
        return expr
    attributes: dict[str, Any] = {
        key: names.get(value, value) if isinstance(value, str) else value for key, value in expr.attributes.items()
    }
    return expr.model_copy(
        update={
            "inputs": tuple(names.get(name, name) for name in expr.inputs),
            "outputs": tuple(names.get(name, name) for name in expr.outputs),
            "attributes": attributes,
            "text": _TENSOR.sub(lambda match: names.get(match[0], match[0]), expr.text),
        }
    )


def _terminating(
    outputs: Sequence[str], makers: Mapping[str, Expr], reads: Mapping[int, Sequence[str]]
) -> tuple[str, ...]:
    seen: set[str] = set()
    left = [name for output in outputs if output in makers for name in reads[makers[output].id]]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += reads[makers[name].id] if name in makers else ()
    return tuple(output for output in outputs if output not in seen)
