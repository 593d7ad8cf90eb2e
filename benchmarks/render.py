"""How fast big fusions are drawn: ``python benchmarks/render.py [--write]``.

Three kinds of fusion: ``layers``, the rotary embeddings of benchmarks/checks.py, two groups a layer in one long chain;
``random``, groups of one expression, two in five of them metadata groups, that read one to three of the last eight
tensors; ``shared``, the same with the first tensor read by every third group. Each is made into DOT text and laid out
as SVG by Graphviz. ``--write`` puts the table into benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import random
import time

import checks
from results import write_section

from segscope.errors import RenderError
from segscope.model import Edge, Expr, Group, IterDomain, SegmentedFusion, Tensor
from segscope.render.dot import to_dot
from segscope.render.engine import draw
from segscope.render.view import Level, View

SHAPE = (2, 40, 4096, 128)


def layers(groups: int) -> SegmentedFusion:
    checks.LAYERS = groups // 2
    return checks.generated(0)


def random_groups(groups: int) -> SegmentedFusion:
    chance = random.Random(groups)
    domain = tuple(
        IterDomain(iter_type="i", parallel_type="S", number=n, extent=str(size), size=size)
        for n, size in enumerate(SHAPE)
    )
    names = [f"T{n}" for n in range(groups + 1)]
    exprs, found, edges = [], [], []
    for index in range(groups):
        near = range(max(0, index - 8), index)
        sources = sorted(chance.sample(near, min(len(near), chance.choice((1, 1, 2, 3)))))
        inputs = tuple(names[source + 1] for source in sources) or (names[0],)
        metadata = chance.random() < 0.4
        kind, op, scheduler = ("slice", "slice", "expr_eval") if metadata else ("binary", "+", "pointwise")
        output = names[index + 1]
        exprs.append(Expr(id=index, kind=kind, op=op, outputs=(output,), inputs=inputs, attributes={}, text=""))
        found.append(
            Group(index=index, id=index, scheduler=scheduler, inputs=inputs, outputs=(output,), expr_ids=(index,))
        )
        edges += [Edge(source=source, target=index, value=names[source + 1]) for source in sources]
    return SegmentedFusion(
        index=0,
        era="E10",
        inputs=(names[0],),
        outputs=(names[-1],),
        groups=tuple(found),
        edges=tuple(edges),
        exprs=tuple(exprs),
        tensors={name: Tensor(name=name, memory="g", dtype="__bfloat", domain=domain) for name in names},
        first_line=1,
    )


def shared(groups: int) -> SegmentedFusion:
    fusion = random_groups(groups)
    edges = (Edge(source=0, target=index, value="T1") for index in range(10, groups, 3))
    return fusion.model_copy(update={"edges": tuple(dict.fromkeys((*fusion.edges, *edges)))})


def row(kind: str, fusion: SegmentedFusion, level: Level) -> str:
    start = time.perf_counter()
    text = to_dot(fusion, view=View(level=level))
    made = time.perf_counter()
    drawn = "groups" if f"\n\tg{fusion.groups[0].index} [" in text else "expressions"
    try:
        draw(text)
        end = f"{time.perf_counter() - start:.2f}"
    except RenderError as error:
        end = str(error)
    size = f"{len(fusion.groups):,} | {len(fusion.exprs):,}"
    return f"| {kind} | {size} | {level} | {drawn} | {made - start:.2f} | {end} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the section of benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    lines = ["| fusion | groups | expressions | asked for | drawn | DOT, s | SVG, s |", "|---|---|---|---|---|---|---|"]
    for kind, make in (("layers", layers), ("random", random_groups), ("shared", shared)):
        for groups in (300, 2000):
            fusion = make(groups)
            lines += [row(kind, fusion, "groups"), row(kind, fusion, "expressions")]
            print(*lines[-2:], sep="\n", flush=True)
    text = (
        f"`python benchmarks/render.py --write`, on one machine with two cores, {draw('digraph {}').engine}.\n\n"
        + "\n".join(lines)
        + "\n\nSVG is the whole time, DOT text included. What must hold: 300 groups in under 5 s, 2,000 in under 10 s."
    )
    if arguments.write:
        write_section("Pictures", text)


if __name__ == "__main__":
    main()
