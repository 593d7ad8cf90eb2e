"""``fp32-crossing``: a tensor that crosses in twice the bytes it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from segscope.checks.base import Check
from segscope.checks.facts import HALVES, facts_of, listed
from segscope.checks.finding import Finding, Severity
from segscope.model import Expr, SegmentedFusion

_HALF_DTYPES: Final = frozenset({"__bfloat", "__half"})


class Fp32Crossing(Check):
    """A float tensor that holds no more than the 16-bit tensor that it comes from, or that is all it becomes.

    Tensors that fit in one cache line (``Facts.fits_a_line``) are left out.

    ``NVFUSER_ENABLE=io_to_lower_precision`` makes nvFuser pass in 16 bits every float tensor on which a 16-bit output
    of the fusion depends: these, and others, whose values it rounds (``castInputOutputToLowerPrecision`` in
    csrc/fusion_segmenter.cpp). It is named where the fusion has such an output. Measured: nvFuser 0.2.8 then cuts RoPE
    with no such crossing; 0.2.36 without the resize scheduler fails on phi-2's backward pass (no scheduler is found).
    """

    name: ClassVar[str] = "fp32-crossing"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "float32 crosses a cut where its 16-bit source, or the 16 bits that become of it, would do"

    def run(self, fusion: SegmentedFusion) -> Iterator[Finding]:
        """Yield one finding for each tensor; ``bytes`` are those that it takes in memory beyond the 16-bit one."""
        facts = facts_of(fusion)
        outputs = set(fusion.outputs)
        halves = any(tensor.dtype in _HALF_DTYPES for name in outputs if (tensor := facts.tensor(name)))
        targets: dict[tuple[int, str], list[int]] = {}
        for source, target, values in fusion.cuts:
            for value in values:
                targets.setdefault((source, value), []).append(target)
        for (source, value), readers in targets.items():
            tensor = facts.tensor(value)
            made_by = facts.defined[source].get(value)
            if value in outputs or not (tensor and tensor.dtype == "float" and made_by) or facts.fits_a_line(value):
                continue
            uses = [expr for target in readers for expr in facts.readers[target].get(value, ())]
            if _is_cast(made_by, HALVES, {"float"}):
                other = made_by.tensor_inputs[0]
                why, advice = f"it is only {other} in more bits", f"pass {other} and let the reader cast it"
            elif all(_is_cast(expr, {"float"}, HALVES) for expr in uses) and len(_become(uses)) == 1:
                other = uses[0].tensor_outputs[0]
                why, advice = f"it is only read to make {other} of it", f"cast it where it is made and pass {other}"
            else:
                continue
            stored = tensor.stored_bytes
            a, b = facts.label(source), listed([facts.label(target) for target in readers])
            yield Finding(
                rule=self.name,
                severity=self.severity,
                fusion=fusion.index,
                groups=(source, *readers),
                expressions=(made_by.id,) if _is_cast(made_by, HALVES, {"float"}) else _ids(uses),
                tensors=(value, other),
                bytes=None if stored is None else stored // 2,
                message=f"{value} crosses from {a} to {b} in float32, and {why}",
                advice=advice,
                option="NVFUSER_ENABLE=io_to_lower_precision" if halves else None,
            )


def _is_cast(expr: Expr, source: set[str] | frozenset[str], target: set[str] | frozenset[str]) -> bool:
    return (
        expr.kind == "cast"
        and bool(expr.tensor_inputs)
        and expr.attributes.get("from") in source
        and expr.attributes.get("to") in target
    )


def _become(casts: list[Expr]) -> set[str]:
    return {str(expr.attributes["to"]) for expr in casts}


def _ids(exprs: list[Expr]) -> tuple[int, ...]:
    return tuple(sorted({expr.id for expr in exprs}))
