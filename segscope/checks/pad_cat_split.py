"""``pad-cat-split``: a concatenation that is spread over several groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from segscope.checks.base import Check
from segscope.checks.facts import Facts, facts_of, listed
from segscope.checks.finding import Finding, Severity
from segscope.model import Expr, SegmentedFusion


class PadCatSplit(Check):
    """A cat is pads, and what joins them: ``cat``, or, once nvFuser has moved the pads up, an addition."""

    name: ClassVar[str] = "pad-cat-split"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "a cat, or the addition that stands for one, is in another group than its pads"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield one finding for each cat, or addition of padded tensors, and group in which a pad of it is not."""
        facts = facts_of(fusion)
        homes = {name: index for index, defined in reversed(list(enumerate(facts.defined))) for name in defined}
        for index, exprs in enumerate(facts.exprs):
            for expr in exprs:
                if expr.kind == "cat":
                    pads = [_pad_above(facts, homes, index, name, directly=True) for name in expr.tensor_inputs]
                elif expr.kind == "binary" and expr.op == "+" and len(expr.tensor_inputs) == 2:
                    pads = [_pad_above(facts, homes, index, name, directly=False) for name in expr.tensor_inputs]
                    if not _side_by_side(pads):
                        continue
                else:
                    continue
                yield from self._apart(facts, index, expr, pads)

    def _apart(self, facts: Facts, index: int, expr: Expr, pads: list[tuple[int, Expr] | None]) -> Iterator[Finding]:
        elsewhere = [found for found in pads if found and found[0] != index]
        if not elsewhere:
            return
        written = [name for _, pad in elsewhere for name in pad.tensor_outputs]
        groups = sorted({home for home, _ in elsewhere})
        what = "cat" if expr.kind == "cat" else "the addition that stands for a cat"
        yield Finding(
            rule=self.name,
            severity=self.severity,
            fusion=facts.fusion.index,
            groups=(*groups, index),
            expressions=tuple(sorted({pad.id for _, pad in elsewhere} | {expr.id})),
            tensors=tuple(written),
            bytes=facts.stored_bytes(written),
            message=f"{what} ({', '.join(expr.outputs)}) is in {facts.label(index)}, "
            f"its padded {listed(written)} in {listed([facts.label(home) for home in groups])}",
            advice="a padded tensor is larger than what it was made of: pad where it is joined",
            option="MovePadPass",
        )


def _pad_above(
    facts: Facts, homes: dict[str, int], index: int, name: str, *, directly: bool
) -> tuple[int, Expr] | None:
    """Return the pad, with its group, that makes a value, there or over casts and negations of it."""
    while True:
        home = index if name in facts.defined[index] else homes.get(name)
        if home is None:
            return None
        expr = facts.defined[home][name]
        if expr.kind == "pad":
            return (home, expr) if facts.fusion.resizes(expr) else None
        keeps_zero = expr.kind in ("cast", "set", "segmenter_set") or (expr.kind == "unary" and expr.op == "-")
        if directly or not keeps_zero or not expr.tensor_inputs:
            return None
        name, index = expr.tensor_inputs[0], home


def _side_by_side(pads: list[tuple[int, Expr] | None]) -> bool:
    """Say whether two tensors are padded on opposite sides of one dimension, so that one is zero where the other is."""
    widths = [found[1].attributes.get("widths") for found in pads if found]
    if len(widths) != 2 or not all(isinstance(width, tuple) for width in widths):
        return False
    first, second = (tuple(n != 0 for n in width) for width in widths if isinstance(width, tuple))
    return len(first) == len(second) and any(
        first[left : left + 2] in ((True, False), (False, True))
        and second[left : left + 2] == first[left : left + 2][::-1]
        for left in range(0, len(first), 2)
    )
