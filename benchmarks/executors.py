"""How long RoPE takes through each executor on a GPU, beside what was counted: run where there is one.

    python benchmarks/executors.py OUT [--repeat N] [--config NAME]     # in an environment with torch, nvFuser, Thunder
    python benchmarks/executors.py OUT --write                          # puts what is in OUT into RESULTS.md

Each run is kept in OUT as a comparison.json without traces, dumps and graphs, for ``segscope executors --against``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from results import write_section

from segscope.compare.executors import Comparison, compare_rope_executors, read
from segscope.compare.executors.model import Pass

CONFIGS = ("tiny-llama-1.1b", "Llama-2-13b-hf")
TITLE = "Executors of RoPE on a GPU"


def measure(folder: Path, configs: list[str], repeat: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for config in configs:
        for grad in (False, True):
            for number in range(repeat):
                found = compare_rope_executors(config, grad=grad, toolchain="current", device="cuda")
                file = folder / f"{config}{'_grad' if grad else ''}_{number}.json"
                file.write_text(without_texts(found).model_dump_json() + "\n", encoding="utf-8")
                print(file, flush=True)


def without_texts(found: Comparison) -> Comparison:
    """Keep the numbers: of traces, dumps and graphs there is much, and the null device gives them anywhere."""
    runs = []
    for run in found.runs:
        passes = []
        for one in run.passes:
            regions = (
                region.model_copy(update={"nodes": (), "definition": "", "why_not": ()}) for region in one.regions
            )
            passes.append(one.model_copy(update={"traces": (), "capture": None, "regions": tuple(regions)}))
        runs.append(run.model_copy(update={"passes": tuple(passes)}))
    return found.model_copy(update={"runs": tuple(runs)})


def section(folder: Path) -> str:
    groups: dict[tuple[str, str], dict[str, list[Pass]]] = {}
    machine = ""
    for file in sorted(folder.glob("*.json")):
        found = read(file)
        for run in found.runs:
            machine = f"{run.card}, torch {run.versions['torch']}, Thunder {run.versions['thunder']}"
            machine += f", nvFuser {run.versions['nvfuser']}"
            for one in run.passes:
                what = f"{one.direction}, with gradients" if found.grad else one.direction
                groups.setdefault((found.workload, what), {}).setdefault(run.executor, []).append(one)
    lines = [
        f"`python benchmarks/executors.py benchmarks/executors` on {machine}. Times are medians over "
        f"{next(iter(next(iter(groups.values())).values()))[0].timings[0].calls} calls, in microseconds; where a "
        "comparison was run several times, each in new processes, all medians are given: Inductor's autotuner does not "
        "choose the same configuration each time. Errors are the largest differences of q, k and v from float32 eager.",
    ]
    for (workload, what), executors in groups.items():
        least = next(iter(executors.values()))[0].least_bytes
        lines += [
            "",
            f"**{workload}, {what}** (inputs and outputs: {least / 1e6:.1f} MB)",
            "",
            "| executor | regions | nvFuser segments | kernels | launched | kernels, warm L2 | cold L2 | gaps | host "
            "| GB/s | errors |",
            "|---|---:|---:|---:|---:|---|---|---|---|---|---|",
        ]
        lines += [row(name, passes) for name, passes in executors.items()]
    return "\n".join(lines)


def row(name: str, passes: list[Pass]) -> str:
    warm, cold = ([one.timings[place] for one in passes] for place in (0, 1))
    first = passes[0]
    cells = [
        name,
        len(first.regions),
        "-" if first.segments is None else first.segments,
        len(first.kernels),
        len(first.launches),
        spread(timing.kernel_us for timing in warm),
        spread(timing.kernel_us for timing in cold),
        spread(timing.gap_us for timing in warm),
        spread(timing.host_us for timing in warm),
        spread((first.least_bytes / timing.kernel_us / 1e3 for timing in warm), 0),
        ", ".join(f"{max(errors):.2g}" for errors in zip(*(one.errors for one in passes), strict=True)) or "-",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def spread(values: object, digits: int = 1) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in sorted(values))  # type: ignore[call-overload]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--config", action="append", choices=CONFIGS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.write:
        write_section(TITLE, section(given.folder))
    else:
        measure(given.folder, given.config or list(CONFIGS), given.repeat)
