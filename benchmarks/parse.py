"""How fast dumps are parsed, and in how much memory: ``python benchmarks/parse.py [--write]``.

Everything is measured in this one run, each piece as the best of seven processes of its own, so that what segscope
remembers of earlier dumps does not count. ``--write`` puts the table into benchmarks/RESULTS.md. Compared are

* ``segscope``: the typed models of every fusion, one by one (``segscope.dump.fusions``), log and passes included;
* ``re``: one match of a compiled pattern on every line, which captures the same things as text (outputs, ids, groups,
  edges, verdicts) and does nothing with them;
* ``grep``: ``grep -c 'g{('``;
* ``lark``: an LALR grammar for the lists of groups and edges, given only those lines.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import write_section

FIXTURES = Path(__file__).parent.parent / "fixtures"
LOGS = sorted(FIXTURES.glob("*_log_*.txt"))
DENSE = FIXTURES / "h200_0.2.36_phi-2_bookend0_resize-off_forward+backward.txt"
LINE = re.compile(
    r"(T\d+)_(\w+)\["  # a statement's output
    r"|\((\d+)\)$|g\{\((\w+)\)$|group id: (\d+)$"  # a group's block
    r"|  ([\w-]+)\{([\d, ]*)\}$|  e\{ (\w+\{[\d, ]*\}) -> (\w+\{[\d, ]*\})\((.*)\) \}$"  # groups and edges
    r"|Scheduler _(\w+)_ \*\*\*rejected\*\*\* because : (.*)$|\*\*\*Accepted\*\*\* as: (\w+)|\*\*Segmenter\*\*"
)
WARM = FIXTURES / "history" / "null_0.2.35.dev20260115_Llama-2-13b-hf_definition.txt"
LARGE = 50e6
LISTED = re.compile(r"^groups: \n.*?^group details:", re.MULTILINE | re.DOTALL)
GRAMMAR = r"""
start: GROUPS ref* EDGES edge* DETAILS
ref: WORD "{" (INT ("," INT)*)? "}"
edge: OPEN ref "->" ref "(" value ")" "}"
value: TENSOR "[" (domain ("," domain)*)? "]"
domain: ID extent FLAG?
extent: "{" (ATOM | call)* "}"
call: "(" (ATOM | call)* ")"
GROUPS.2: "groups:"
EDGES.2: "edges:"
DETAILS.2: "group details:"
OPEN.2: "e{"
TENSOR.1: /T\d+_(g|l|s|t|sym)(_[\w:<>]+)?/
ID.2: /[irbsnv?](S|V|US|UR|G|B|MMA)\d+/
FLAG.3: "rf"
ATOM: /[^\s{}()]+/
WORD: /[a-z_]+/
INT: /\d+/
%ignore /\s+/
"""

RESULTS = """\
`python benchmarks/parse.py --write`, all in one run on one machine with two cores.

{table}

Rates are megabytes of source a second; `/ x` is segscope's rate over x's. lark gets only the lists of groups and
edges, and its rate counts only their bytes. What must hold: typed models of 15 MB of logs at no less than a third of
the rate of `re` and at three times that of `lark`, and 150 MB within 200 MiB of memory.

{start} What must hold: no more than
twice (best of ten each).
"""


def read_segscope(path: Path) -> int:
    from segscope.dump import fusions

    return sum(len(fusion.groups) for fusion in fusions(path))


def read_re(path: Path) -> int:
    match = LINE.match
    with path.open(encoding="utf-8") as file:
        return sum(match(line) is not None for line in file)


def read_grep(path: Path) -> int:
    return int(subprocess.run(["grep", "-c", "g{(", path], capture_output=True, text=True, check=True).stdout)


def read_lark(path: Path) -> int:
    from lark import Lark

    parser = Lark(GRAMMAR, parser="lalr")
    return sum(len(parser.parse(part).children) for part in LISTED.findall(path.read_text(encoding="utf-8")))


READERS = {"segscope": read_segscope, "re": read_re, "grep": read_grep, "lark": read_lark}


def listed_bytes(path: Path) -> int:
    return sum(len(part) for part in LISTED.findall(path.read_text(encoding="utf-8")))


def measure(reader: str, path: Path) -> tuple[float, int]:
    """Return seconds and peak MiB of one reader: the best of seven processes, of one for a large file."""
    command = [sys.executable, __file__, "--child", reader, str(path)]
    measured = []
    for _ in range(1 if path.stat().st_size > LARGE else 7):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, peak = done.stdout.split()
        measured.append((float(seconds), int(peak)))
    return min(measured)


def child(reader: str, path: Path) -> None:
    read = READERS[reader]
    if reader in ("segscope", "lark"):
        read(WARM)  # imports, and what is compiled once
    start = time.perf_counter()
    read(path)
    print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def repeated(target: Path, size: float) -> None:
    """Write log captures one behind the other, each time with other tensor numbers, up to ``size`` bytes."""
    texts = [path.read_text(encoding="utf-8") for path in LOGS]
    with target.open("w", encoding="utf-8") as file:
        for shift in range(0, 10**9, 1000):
            for text in texts:
                file.write(re.sub(r"\bT(\d+)_", lambda match, shift=shift: f"T{int(match[1]) + shift}_", text))
            if file.tell() >= size:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the section of benchmarks/RESULTS.md")
    parser.add_argument("--child", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child[0], Path(arguments.child[1]))
        return
    lines = [
        "| source | MB | segscope MB/s | / re | / grep | / lark | peak MiB | re MB/s | grep MB/s | lark MB/s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        sources = [("one dense dump", DENSE), ("one log", LOGS[0])]
        for megabytes in (15, 150):
            path = Path(folder, f"{megabytes}.log")
            repeated(path, megabytes * 1e6)
            sources.append((f"{megabytes} MB of logs", path))
        for name, path in sources:
            lines.append(row(name, path))
            print(lines[-1], flush=True)
    table = "\n".join(lines)
    start = f"`segscope count` on one RoPE dump takes {started():.2f} times as long as `python -c 'import pydantic'`."
    print(f"\n{table}\n\n{start}")
    if arguments.write:
        write_section("Parsing", RESULTS.format(table=table, start=start))


def started() -> float:
    """Return how long ``segscope count`` takes, over the time to import pydantic."""

    def best(*arguments: str | Path) -> float:
        seconds = []
        for _ in range(10):
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    return best("-m", "segscope", "count", DENSE) / best("-c", "import pydantic")


def row(name: str, path: Path) -> str:
    size = path.stat().st_size / 1e6
    seconds, peak = measure("segscope", path)
    rates = {"segscope": size / seconds}
    rates["re"] = size / measure("re", path)[0]
    rates["grep"] = size / measure("grep", path)[0]
    rates["lark"] = listed_bytes(path) / 1e6 / measure("lark", path)[0]
    ratios = [f"{rates['segscope'] / rates[other]:.2f}" for other in ("re", "grep", "lark")]
    others = [f"{rates[other]:.1f}" for other in ("re", "grep", "lark")]
    return "| " + " | ".join([name, f"{size:.1f}", f"{rates['segscope']:.1f}", *ratios, str(peak), *others]) + " |"


if __name__ == "__main__":
    main()
