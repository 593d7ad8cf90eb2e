"""How long the fewest kernel groups take to find: ``python benchmarks/headroom.py [--write]``.

Graphs of 150 expressions, under the rules ``boundary`` and connected, ten seconds each at most:

* ``RoPE``: seven times the real problem of Llama-2-13b-hf (July 2024), the one behind the other;
* ``random``: twenty graphs, each expression with one operand of the twelve before it, or with two (a quarter of them),
  one edge in ten a slice or pad that must read an input;
* ``dense``: the same with two operands for four in ten, and one edge in five.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from results import write_section

from segscope.dump import read
from segscope.explain.work import Work
from segscope.graph.contract import contract
from segscope.graph.partition import Problem, check_partition
from segscope.graph.solve import fewest_groups

JULY = Path(__file__).parent.parent / "fixtures" / "null_0.2.8_llama2-13b_bookend0_forward.txt"
SIZE = 150
SECONDS = 10.0
TEXT = """\
`python benchmarks/headroom.py --write`, on one machine with two cores: {size} expressions, {seconds:g} s each at most.

{table}

`left` is what the search gets, when joins that cost nothing are made. A graph that is not exact has a bound: the gap is
the groups found less the fewest there may be. What must hold: exact in less than {seconds:g} seconds.
"""


def rope() -> Problem:
    """The problem of RoPE, again and again: the last result of each is what the next one reads."""
    one = Work(read(JULY).fusion, "boundary").problem
    read_first = [node for node in range(one.size) if not any(target == node for _, target in one.edges)]
    edges: dict[tuple[int, int], bool] = {}
    for start in range(0, SIZE, one.size):
        inside = {(a + start, b + start): apart for (a, b), apart in one.edges.items() if b + start < SIZE}
        edges |= inside
        if start:
            edges |= {(start - 1, node + start): False for node in read_first if node + start < SIZE}
    return Problem(SIZE, edges)


def drawn(seed: int, two_operands: float, apart: float) -> Problem:
    draw = random.Random(seed)
    edges = {}
    for node in range(1, SIZE):
        operands = 2 if draw.random() < two_operands else 1
        for source in {draw.randrange(max(0, node - 12), node) for _ in range(operands)}:
            edges[source, node] = draw.random() < apart
    return Problem(SIZE, edges)


def row(name: str, problems: list[Problem]) -> str:
    seconds, left, gaps = [], [], []
    for problem in problems:
        start = time.perf_counter()
        found = fewest_groups(problem, SECONDS)
        seconds.append(time.perf_counter() - start)
        assert check_partition(problem, found.groups, connected=True) is None
        left.append(contract(problem)[0].size)
        gaps.append(len(found.groups) - found.at_least)
    exact = sum(gap == 0 for gap in gaps)
    middle = sorted(seconds)[len(seconds) // 2]
    cells = [name, f"{exact} of {len(gaps)}", max(gaps), f"{middle:.2f}", f"{max(seconds):.2f}", max(left)]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the section of benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    lines = ["| graph | exact | largest gap | median s | longest s | left |", "|---|---|---|---|---|---|"]
    for name, problems in (
        ("RoPE", [rope()]),
        ("random", [drawn(seed, 0.25, 0.1) for seed in range(20)]),
        ("dense", [drawn(seed, 0.4, 0.2) for seed in range(20)]),
    ):
        lines.append(row(name, problems))
        print(lines[-1], flush=True)
    if arguments.write:
        write_section("Headroom", TEXT.format(size=SIZE, seconds=SECONDS, table="\n".join(lines)))


if __name__ == "__main__":
    main()
