"""Fusions written by hand: ``fusion(["T0"], ["T2"], ("pointwise", "T1 = exp(T0)"), ("pointwise", "T2 = -(T1)"))``."""

from __future__ import annotations

import re

from segscope.model import Edge, Expr, Group, IterDomain, SegmentedFusion, Tensor
from segscope.model.expr import Attribute

_CASTS = {
    "__bfloat2float": ("bfloat", "float"),
    "__half2float": ("half", "float"),
    "__float2bfloat": ("float", "bfloat"),
    "__float2half": ("float", "half"),
    "__float2double": ("float", "double"),
}
_KINDS = {"+": "binary", "*": "binary", "-": "unary", "exp": "unary", "rsqrt": "unary", "fmax": "binary"}


def expr(number: int, text: str, widths: dict[str, tuple[int | str, ...]] | None = None) -> Expr:
    found = re.fullmatch(r"(\w+) = ([^(]+)\((.*)\)", text)
    assert found, text
    output, op, arguments = found.groups()
    attributes: dict[str, Attribute] = {}
    kind = _KINDS.get(op, op)
    if op in _CASTS:
        kind = "cast"
        attributes = dict(zip(("from", "to"), _CASTS[op], strict=True))
    if widths and output in widths:
        attributes["widths"] = widths[output]
    inputs = tuple(name.strip() for name in arguments.split(",") if name.strip())
    return Expr(id=number, kind=kind, op=op, outputs=(output,), inputs=inputs, attributes=attributes, text=text)


def tensor(name: str, shape: tuple[int, ...] = (8, 64), dtype: str = "float") -> Tensor:
    dims = (
        IterDomain(iter_type="i", parallel_type="S", number=position, extent=str(size), size=size)
        for position, size in enumerate(shape)
    )
    return Tensor(name=name, memory="g", dtype=dtype, domain=tuple(dims))


def fusion(
    inputs: list[str],
    outputs: list[str],
    *groups: tuple[str, str],
    tensors: tuple[Tensor, ...] = (),
    widths: dict[str, tuple[int | str, ...]] | None = None,
    scalar_edges: bool = False,
    edges: bool = True,
    complete: bool = True,
) -> SegmentedFusion:
    """Groups are a scheduler and statements, split by semicolons; the same statement in two is one expression.

    Inputs and outputs of the groups and the edges follow from the statements.
    """
    exprs: dict[str, Expr] = {}
    found: list[list[Expr]] = []
    for _, statements in groups:
        texts = [text.strip() for text in statements.split(";")]
        found.append([exprs.setdefault(text, expr(len(exprs), text, widths)) for text in texts])
    made = [{name for e in group for name in e.outputs} for group in found]
    read = [
        list(dict.fromkeys(name for e in group for name in e.inputs if name not in made[index]))
        for index, group in enumerate(found)
    ]
    crossing = [
        Edge(source=source, target=target, value=name)
        for target, names in enumerate(read)
        for name in names
        if name not in inputs and (scalar_edges or name.startswith("T"))
        for source in range(len(groups))
        if name in made[source]
    ]
    named = {t.name: t for t in tensors}
    every = dict.fromkeys(name for e in exprs.values() for name in (*e.inputs, *e.outputs) if name.startswith("T"))
    return SegmentedFusion(
        index=0,
        era="E9",
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        groups=tuple(
            Group(
                index=index,
                id=index,
                scheduler=scheduler,
                inputs=tuple(name for name in read[index] if name.startswith("T")),
                outputs=tuple(
                    sorted(
                        name
                        for name in made[index]
                        if name in outputs or any(e.source == index and e.value == name for e in crossing)
                    )
                ),
                expr_ids=tuple(e.id for e in found[index]),
            )
            for index, (scheduler, _) in enumerate(groups)
        ),
        edges=tuple(crossing) if edges else (),
        exprs=tuple(exprs.values()),
        tensors={name: named.get(name) or tensor(name) for name in every},
        complete=complete,
        first_line=1,
    )
