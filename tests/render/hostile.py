"""Texts that mean something to a format, and a fusion that has one in every place that a dump can fill."""

from __future__ import annotations

from segscope.model import Edge, Expr, Group, SegmentedFusion

TEXTS = [
    "<lambda>",
    'a"b',
    "back\\slash\\n",
    "{x}|y",
    "new\nline",
    "`tick` ```",
    '%%{init: {"theme": "dark"}}%%',
    "#35; &lt; &amp;",
    "</script><script>document.title = 'run'</script>",
    "<!--<script>",
    "<img src=x onerror=\"document.title = 'run'\">",
    "end",
    "style x:#1;",
    "1. list",
    "- item **bold** _it_",
    "$$x^2$$",
    "fa:fa-car",
    "https://example.invalid/x",
    "a/b;c",
    "]]> -->",
    "\x00\x1b[31m\u2028",
    "x" * 20_000,
]


def fusion_of(text: str) -> SegmentedFusion:
    """Two groups with this as scheduler, operator, statement, and name of what crosses."""
    exprs = tuple(
        Expr(
            id=n, kind="unknown", op=text, outputs=(output,), inputs=(given,), attributes={}, text=f"{output} = {text}"
        )
        for n, (given, output) in enumerate([("T0", f"T{text}"), (f"T{text}", "T2")])
    )
    groups = (
        Group(index=0, id=0, scheduler="pointwise", inputs=("T0",), outputs=(f"T{text}",), expr_ids=(0,)),
        Group(index=1, id=1, scheduler=text, inputs=(f"T{text}",), outputs=("T2",), expr_ids=(1,)),
    )
    return SegmentedFusion(
        index=0,
        era="E10",
        inputs=("T0",),
        outputs=("T2",),
        groups=groups,
        edges=(Edge(source=0, target=1, value=f"T{text}"),),
        exprs=exprs,
        tensors={},
        first_line=1,
    )


def chain(length: int) -> SegmentedFusion:
    """So many pointwise groups, one after the other."""
    exprs = [
        Expr(id=n, kind="unary", op="exp", outputs=(f"T{n + 1}",), inputs=(f"T{n}",), attributes={}, text=f"exp(T{n})")
        for n in range(length)
    ]
    return SegmentedFusion(
        index=0,
        era="E10",
        inputs=("T0",),
        outputs=(f"T{length}",),
        groups=tuple(
            Group(index=n, id=n, scheduler="pointwise", inputs=e.inputs, outputs=e.outputs, expr_ids=(n,))
            for n, e in enumerate(exprs)
        ),
        edges=tuple(Edge(source=n, target=n + 1, value=f"T{n + 1}") for n in range(length - 1)),
        exprs=tuple(exprs),
        tensors={},
        first_line=1,
    )
