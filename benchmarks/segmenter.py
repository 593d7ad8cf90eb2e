"""How exact the segmenter lab is on the fixtures, and how fast: ``python benchmarks/segmenter.py [--write]``.

By rules, with nvFuser's own choices:

* each real fusion in fixtures/ (eras/ is made up), with the version in its file's name, else the one that the dump
  tells: is the partition that of the dump?
* one fusion of RoPE's size (Llama-2-13b-hf of July 2024), from the parsed dump;
* 2,000 fusions: those of fixtures/, again and again, in two processes, from the parsed dumps.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from results import write_section

from segscope.dump import read
from segscope.model import SegmentedFusion
from segscope.segmenter import Version, simulate, version
from segscope.segmenter.corpus import version_of
from segscope.segmenter.same import moved

FIXTURES = Path(__file__).parent.parent / "fixtures"
JULY = "null_0.2.8_llama2-13b_bookend0_forward.txt"
NOT_DUMPS = ("eras", "traces")
MANY = 2_000
PROCESSES = 2
TEXT = """\
`python benchmarks/segmenter.py --write`, on one machine with two cores; by rules, with nvFuser's own choices.

The partition is that of the dump for {exact} of {total} real fusions in fixtures/ ({share:.0%}), {several} of them in
captures of several fusions ({exact_of_several} exact). An answer was unknown in {unknown}.

{inexact}| what | measured | must be |
|---|---|---|
| one fusion of RoPE's size, the median of {repeats} | {rope:.1f} ms | < 50 ms |
| {many:,} fusions of mixed size ({smallest} to {largest} expressions), {processes} processes | {all:.1f} s | < 60 s |
"""
REPEATS = 51


class Case(NamedTuple):
    """A real fusion, and the version that segmented it."""

    where: str
    fusion: SegmentedFusion
    version: Version
    alone: bool
    """Whether the capture has no other fusion."""


def cases() -> Iterator[Case]:
    for path in sorted(FIXTURES.rglob("*.txt")):
        if path.relative_to(FIXTURES).parts[0] in NOT_DUMPS:
            continue
        capture = read(path)
        for fusion in capture.fusions:
            named = re.search(r"(?:_|nvfuser-)(0\.\d+\.\d+(?:\.dev\d+)?)(?:_|$)", f"{path.parent.name} {path.stem}")
            found = version(named[1]) if named else version_of(capture, fusion)
            if "resize-off" in path.name:
                found = found.having("resize_scheduler", False)
            yield Case(f"{path.relative_to(FIXTURES)}, fusion {fusion.index}", fusion, found, len(capture.fusions) == 1)


def problem(case: Case) -> tuple[str | None, bool]:
    """Return what differs from the dump, and whether an answer was unknown."""
    simulation = simulate(case.fusion, version=case.version)
    changes = moved(case.fusion, simulation.fusion)
    return (changes[0].explain() if changes else None), bool(simulation.unknown)


def work(part: list[Case]) -> int:
    return sum(len(simulate(case.fusion, version=case.version).fusion.groups) for case in part)


def seconds_for_one(case: Case) -> float:
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work([case])
        taken.append(time.perf_counter() - start)
    return sorted(taken)[REPEATS // 2]


def seconds_for(many: list[Case]) -> float:
    start = time.perf_counter()
    with ProcessPoolExecutor(PROCESSES) as pool:
        groups = sum(pool.map(work, (many[at : at + 50] for at in range(0, len(many), 50))))
    assert groups >= len(many)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the section of benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    every = list(cases())
    told = {case.where: problem(case) for case in every}
    inexact = [f"* {where}: {why}" for where, (why, _) in told.items() if why]
    several = [case.where for case in every if not case.alone]
    sizes = [sum(not expr.is_scalar for expr in case.fusion.exprs) for case in every]
    text = TEXT.format(
        exact=len(every) - len(inexact),
        total=len(every),
        several=len(several),
        exact_of_several=sum(not told[where][0] for where in several),
        share=1 - len(inexact) / len(every),
        unknown=sum(unknown for _, unknown in told.values()),
        inexact="\n".join(["Not exact:", "", *inexact, "", ""]) if inexact else "",
        repeats=REPEATS,
        rope=1000 * seconds_for_one(next(case for case in every if case.where.startswith(JULY))),
        many=MANY,
        smallest=min(sizes),
        largest=max(sizes),
        processes=PROCESSES,
        all=seconds_for(list(islice(cycle(every), MANY))),
    )
    print(text)
    if arguments.write:
        write_section("Segmenter", text)


if __name__ == "__main__":
    main()
