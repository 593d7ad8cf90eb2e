"""How fast the rules run: ``python benchmarks/checks.py [--write]``.

The fusion has 2,000 groups and 20,000 expressions on tensors: layers of a rotary embedding, each of two groups, with a
residual that skips a layer, so that slices, pads, cats, casts, broadcasts and views cross. Each rule runs alone, the
best of three times; ``nondeterministic`` compares the fusion with itself in another numbering. ``--write`` puts the
table into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from results import write_section

from segscope.checks import check, checks, structure
from segscope.model import Capture, Edge, Expr, Group, IterDomain, ParseReport, SegmentedFusion, Tensor
from segscope.model.expr import Attribute

LAYERS = 1000
SHAPE = (2, 32, 4096, 128)
HALF = (*SHAPE[:3], SHAPE[3] // 2)
FLAT = (2, 4096, SHAPE[1] * SHAPE[3])
TABLE = (4096, SHAPE[3])
ONES = (1, 1, *TABLE)
BF16, F32 = "__bfloat", "float"


class Builder:
    """Tensors and expressions with their text, as nvFuser prints them; ``first`` is the number of the first tensor."""

    def __init__(self, first: int) -> None:
        self.number = first
        self.tensors: dict[str, Tensor] = {}
        self.exprs: list[Expr] = []

    def tensor(self, shape: tuple[int, ...], dtype: str, expanded: int = 0) -> str:
        name = f"T{self.number}"
        self.number += 1
        dims = []
        for at, size in enumerate(shape):
            number = 8 * self.number + at
            more = {"iter_type": "i", "extent": str(size), "size": size}
            if at < expanded:
                more = {"iter_type": "b", "extent": "1", "size": 1, "expanded_extent": str(size), "expanded_size": size}
            dims.append(IterDomain(parallel_type="S", number=number, **more))
        self.tensors[name] = Tensor(name=name, memory="l", dtype=dtype, domain=tuple(dims))
        return name

    def says(self, name: str) -> str:
        tensor = self.tensors[name]
        dims = ", ".join(f"{dim.iter_type}S{dim.number}{{{dim.extent}}}" for dim in tensor.domain)
        return f"{name}_{tensor.memory}_{tensor.dtype}[{dims}]"

    def expr(
        self,
        kind: str,
        op: str,
        inputs: list[str],
        shape: tuple[int, ...],
        dtype: str,
        attributes: dict[str, Attribute] | None = None,
        expanded: int = 0,
    ) -> str:
        output = self.tensor(shape, dtype, expanded)
        arguments = ", ".join(map(self.says, inputs))
        right = f"\n   {op} ".join(map(self.says, inputs)) if kind == "binary" else f"{op}({arguments})"
        self.exprs.append(
            Expr(
                id=len(self.exprs) + 7 * LAYERS,
                kind=kind,
                op=op,
                outputs=(output,),
                inputs=tuple(inputs),
                attributes=attributes or {},
                text=f"{self.says(output)}\n   = {right};",
            )
        )
        return output

    def cast(self, source: str, shape: tuple[int, ...], to: str) -> str:
        words = {BF16: "bfloat", F32: "float"}
        old, new = words[self.tensors[source].dtype or ""], words[to]
        op = "__bfloat2float" if to == F32 else "__float2bfloat"
        return self.expr("cast", op, [source], shape, to, {"from": old, "to": new})


def layer(b: Builder, x: str, residual: str, table: str) -> str:
    """Add the 20 expressions of one layer: the first ten become a group, and the others."""
    x = b.expr("reshape", "reshape", [x], SHAPE, BF16)
    left = b.expr("slice", "slice", [x], HALF, BF16, {"ranges": ((0, 2, 1), (0, 32, 1), (0, 4096, 1), (0, 64, 1))})
    right = b.expr("slice", "slice", [x], HALF, BF16, {"ranges": ((0, 2, 1), (0, 32, 1), (0, 4096, 1), (64, 128, 1))})
    negated = b.cast(b.expr("unary", "-", [b.cast(right, HALF, F32)], HALF, F32), HALF, BF16)
    first = b.expr("pad", "pad", [negated], SHAPE, BF16, {"widths": (0, 64, 0, 0, 0, 0, 0, 0)})
    second = b.expr("pad", "pad", [left], SHAPE, BF16, {"widths": (64, 0, 0, 0, 0, 0, 0, 0)})
    cosines = b.expr("broadcast", "broadcast", [table], ONES, BF16, {"flags": (True, True, False, False)})
    wide = b.cast(x, SHAPE, F32)

    cosines = b.cast(b.expr("expand", "expand", [cosines], SHAPE, BF16, expanded=2), SHAPE, F32)
    scaled = b.expr("binary", "*", [wide, cosines], SHAPE, F32)
    turned = b.cast(b.expr("cat", "cat", [first, second], SHAPE, BF16, {"dim": 3}), SHAPE, F32)
    turned = b.expr("binary", "*", [turned, cosines], SHAPE, F32)
    total = b.cast(b.expr("binary", "+", [scaled, turned], SHAPE, F32), SHAPE, BF16)
    flat = b.expr("reshape", "reshape", [total], FLAT, BF16)
    return b.expr("binary", "+", [flat, residual], FLAT, BF16)


def generated(first: int) -> SegmentedFusion:
    b = Builder(first)
    values = [b.tensor(FLAT, BF16), b.tensor(FLAT, BF16)]
    table = b.tensor(TABLE, BF16)
    inputs = (*values, table)
    for _ in range(LAYERS):
        values.append(layer(b, values[-1], values[-2], table))
    homes: dict[str, int] = {}
    parts = [b.exprs[start : start + 10] for start in range(0, len(b.exprs), 10)]
    edges: dict[tuple[int, int, str], None] = {}
    for index, part in enumerate(parts):
        homes |= dict.fromkeys((name for expr in part for name in expr.outputs), index)
        for name in (name for expr in part for name in expr.inputs):
            if homes.get(name, index) != index:
                edges[homes[name], index, name] = None
    crossing: dict[int, dict[str, None]] = {}
    entering: dict[int, dict[str, None]] = {}
    for source, target, name in edges:
        crossing.setdefault(source, {})[name] = None
        entering.setdefault(target, {})[name] = None
    last = homes[values[-1]]
    crossing.setdefault(last, {})[values[-1]] = None
    groups = tuple(
        Group(
            index=index,
            id=index,
            scheduler="pointwise",
            inputs=(*entering.get(index, {}), *dict.fromkeys(n for e in part for n in e.inputs if n in inputs)),
            outputs=tuple(crossing.get(index, {})),
            expr_ids=tuple(expr.id for expr in part),
        )
        for index, part in enumerate(parts)
    )
    return SegmentedFusion(
        index=0,
        era="E10",
        inputs=inputs,
        outputs=(values[-1],),
        groups=groups,
        edges=tuple(Edge(source=source, target=target, value=name) for source, target, name in edges),
        exprs=tuple(b.exprs),
        tensors=b.tensors,
        first_line=1,
    )


def capture(source: str, fusion: SegmentedFusion) -> Capture:
    report = ParseReport(lines=0, statements=0, unknown_operators={}, damage=())
    return Capture(source=source, fusions=(fusion,), report=report)


def best(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the section of benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    captures = [capture("first", generated(0)), capture("again", generated(500))]
    fusion = captures[0].fusion
    assert structure(fusion) == structure(captures[1].fusion)
    size = f"{len(fusion.groups):,} groups, {len(fusion.exprs):,} expressions, {len(fusion.edges):,} edges"
    lines = ["| rule | CPU seconds | findings |", "|---|---|---|"]
    for name in checks():
        checked = captures if name == "nondeterministic" else fusion
        seconds = best(lambda name=name, checked=checked: check(checked, select=[name]))
        lines.append(f"| `{name}` | {seconds:.2f} | {len(check(checked, select=[name])):,} |")
    lines.append(f"| all, on the fusion | {best(lambda: check(fusion)):.2f} | {len(check(fusion)):,} |")
    table = "\n".join(lines)
    text = (
        f"`python benchmarks/checks.py --write`, on one machine with two cores: {size}.\n\n{table}\n\n"
        "`nondeterministic` compares two captures. What must hold: all rules on the fusion in less than 2 seconds."
    )
    print(text)
    if arguments.write:
        write_section("Checks", text)


if __name__ == "__main__":
    main()
