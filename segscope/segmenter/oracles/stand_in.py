"""Cats that nvFuser's Python API cannot make, as what schedulers take them for: sums of padded operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from segscope.dump.casts import word
from segscope.model import Expr, SegmentedFusion, Tensor
from segscope.segmenter.oracle import Candidate
from segscope.segmenter.whole import Whole

_SIXTEEN_BITS: Final = frozenset({"half", "bfloat"})


class StandIns:
    """For each cat of a fusion a sum of its operands, in float for 16-bit types, as the API would have it.

    The API's ``cat`` pads its operands itself, and drops those without elements, so a cat can be rebuilt only together
    with pads of all its operands. Without them it is an elementwise operation (docs/dump-format.md 4.7).
    """

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        self._instead: dict[int, tuple[int, ...]] = {}
        """For nodes with a cat, the ids of the expressions that stand for it."""
        self._exprs: list[Expr] = []
        self._tensors: dict[str, Tensor] = {}
        names, ids = (whole.as_fusion.tensors, (expr.id for expr in whole.as_fusion.exprs))
        self._last_name = max(int(name[1:]) for name in names)
        self._last_id = max(ids)
        for node, expr in enumerate(whole.exprs):
            if expr.kind == "cat":
                self._instead[node] = self._sum(expr)

    @property
    def fusion(self) -> SegmentedFusion:
        """The fusion with the sums beside the cats."""
        given = self._whole.as_fusion
        return given.model_copy(
            update={"exprs": (*given.exprs, *self._exprs), "tensors": given.tensors | self._tensors}
        )

    def ids(self, candidate: Candidate) -> tuple[int, ...]:
        """Return the expressions to rebuild for a set: sums in place of cats whose pads are not all inside."""
        found: list[int] = []
        for node in candidate.nodes:
            if node in self._instead and not self._comes_with_pads(node, candidate):
                found += self._instead[node]
            else:
                found.append(self._whole.exprs[node].id)
        return tuple(found)

    def _comes_with_pads(self, node: int, candidate: Candidate) -> bool:
        """Say whether all pads of a cat are inside; the API drops what they make of tensors without elements."""
        whole = self._whole
        for name in whole.reads[node]:
            pad = whole.made_by.get(name)
            if pad not in candidate.nodes or whole.exprs[pad].kind != "pad" or name in candidate.outputs:
                return False
            if 0 in whole.tensor(whole.reads[pad][0]).shape:
                return False
        return True

    def _sum(self, cat: Expr) -> tuple[int, ...]:
        output = self._whole.tensor(cat.outputs[0])
        dtype = self._dtype(cat)
        narrow = dtype in _SIXTEEN_BITS
        begin = len(self._exprs)
        operands = [self._cast(output, name, dtype, "float") for name in cat.tensor_inputs] if narrow else None
        total, *others = operands or cat.tensor_inputs
        for position, name in enumerate(others):
            last = position == len(others) - 1 and not narrow
            total = self._add(output, "binary", "+", (total, name), cat.outputs[0] if last else None, {})
        if narrow:
            self._cast(output, total, "float", dtype, cat.outputs[0])
        return tuple(expr.id for expr in self._exprs[begin:])

    def _dtype(self, cat: Expr) -> str:
        printed = [self._whole.tensor(name).dtype for name in (*cat.outputs, *cat.tensor_inputs)]
        return word(next(filter(None, printed), "__bfloat"))

    def _cast(self, like: Tensor, name: str, source: str, target: str, output: str | None = None) -> str:
        return self._add(like, "cast", f"__{source}2{target}", (name,), output, {"from": source, "to": target})

    def _add(
        self,
        like: Tensor,
        kind: str,
        op: str,
        inputs: Sequence[str],
        output: str | None,
        attributes: dict[str, str],
    ) -> str:
        """Add an expression; its output is a new tensor in float unless it is named."""
        if output is None:
            self._last_name += 1
            output = f"T{self._last_name}"
            self._tensors[output] = like.model_copy(update={"name": output, "dtype": "float"})
        self._last_id += 1
        text = f"{output} = {f' {op} '.join(inputs)};"
        self._exprs.append(
            Expr(
                id=self._last_id,
                kind=kind,
                op=op,
                outputs=(output,),
                inputs=tuple(inputs),
                attributes=dict(attributes),
                text=text,
            )
        )
        return output
