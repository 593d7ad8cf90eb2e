"""What the tables of a comparison say, whatever they are drawn with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from segscope.compare.executors.model import Ablation, Comparison, Direction, Explanation, Pass, TensorFacts, Timing

NONE: Final = "-"
"""Where there is nothing to say."""
UNKNOWN: Final = "?"


class Row(NamedTuple):
    """An executor in one direction."""

    executor: str
    is_reference: bool
    cells: tuple[str, ...]
    problem: str | None
    """Why there are no numbers, or not all."""


_Column = tuple[str, Callable[[Pass], str]]

_COUNTS: Final[tuple[_Column, ...]] = (
    ("regions", lambda one: str(len(one.regions))),
    ("nvFuser\nsegments", lambda one: NONE if one.segments is None else str(one.segments)),
    ("kernels\ngenerated", lambda one: str(len(one.kernels))),
    ("kernels\nlaunched", lambda one: str(len(one.launches))),
)
_TIMES: Final[tuple[_Column, ...]] = (
    ("kernels\nµs", lambda one: _time(warm(one), lambda timing: timing.kernel_us)),
    ("host\nµs", lambda one: _time(warm(one), lambda timing: timing.host_us)),
)
_SAVED: Final[_Column] = ("MB saved\nmade / as is", lambda one: f"{_total(one.saved)} / {_total(one.saved_as_is)}")
_TRAFFIC: Final[_Column] = (
    "MB read\n/ written",
    lambda one: f"{mb(one.bytes_read)} / {mb(one.bytes_written)}" if one.kernels else NONE,
)
_RATE: Final[_Column] = ("GB/s", lambda one: _rate(one, warm(one)))

ABOUT: Final = (
    "A region is what reached a compiler as one piece. nvFuser cuts its regions into segments, which are kernels where "
    "they move data. Compilers generated kernels; launched are those and torch's own."
)
"""What a reader has to know of the counts."""


def directions(comparison: Comparison) -> tuple[Direction, ...]:
    """Return the directions that were asked for."""
    return ("forward", "backward") if comparison.grad else ("forward",)


def headings(comparison: Comparison, direction: Direction) -> tuple[str, ...]:
    """Return the headings of what is told of an executor, each of one or two lines.

    There are times where one was timed, and what is saved where a backward follows.
    """
    return tuple(heading for heading, _ in _columns(comparison, direction))


def rows(comparison: Comparison, direction: Direction) -> tuple[Row, ...]:
    """Return a row for each executor, those that failed too."""
    columns = _columns(comparison, direction)
    found = []
    for run in comparison.runs:
        one = run.get(direction)
        cells = tuple(NONE if one is None else cell(one) for _, cell in columns)
        problem = run.problem
        if one is None:
            problem = problem or "no such pass"
        elif one.launches and (warm(one) or run.device == "null"):
            problem = None
        found.append(Row(run.executor, run is comparison.reference, cells, problem))
    return tuple(found)


def note(comparison: Comparison, direction: Direction) -> str:
    """Return what a reader has to know of the numbers in one direction; nothing where there are none."""
    passes = _passes(comparison, direction)
    if not passes:
        return ""
    told = f"Inputs and outputs, each moved once, are {mb(passes[0].least_bytes)} MB"
    if any(map(warm, passes)):
        told += "; GB/s are these over the kernels' time. Times are medians with a warm L2 cache."
    elif any(kernel.scheduler == "extern" for one in passes for kernel in one.kernels):
        told += ". The null device does not launch the kernels of libraries: a matrix product is not counted."
    else:
        told += "."
    symbolic = dict.fromkeys(
        f"nvFuser {run.versions.get('nvfuser', '')}".rstrip()
        for run in comparison.runs
        if (one := run.get(direction)) and _is_symbolic(one)
    )
    return f"{told} {UNKNOWN}: the dump of {' and of '.join(symbolic)} gives symbolic sizes." if symbolic else told


def setting(comparison: Comparison) -> str:
    """Return where a comparison was run: toolchain, versions, device; what differs between runs more than once."""
    toolchains = dict.fromkeys(run.toolchain for run in comparison.runs)
    versions = dict.fromkeys(
        f"{name} {run.versions[name]}"
        for run in comparison.runs
        for name in ("torch", "thunder", "nvfuser")
        if name in run.versions
    )
    devices = dict.fromkeys(
        run.card if run.device == "cuda" else f"null device ({run.card})" for run in comparison.runs
    )
    return " · ".join([*toolchains, *versions, *devices])


def ablation_headings(explanation: Explanation) -> tuple[str, ...]:
    """Return the headings of the ablations; the region is named where there are several."""
    region = ("region",) if len({one.region for one in explanation.ablations}) > 1 else ()
    return (*region, "kernels", "operations", "the graph of the region")


def ablation_rows(explanation: Explanation) -> tuple[tuple[str, ...], ...]:
    """Return a row for each ablation, its kernels marked where they are then as many as the reference's."""
    several = "region" in ablation_headings(explanation)
    return tuple(
        (
            *((one.region,) if several else ()),
            _kernels(explanation, one),
            str(one.operations),
            one.what + (f": not compiled: {one.problem}" if one.problem else ""),
        )
        for one in explanation.ablations
    )


def _kernels(explanation: Explanation, one: Ablation) -> str:
    count = UNKNOWN if one.kernels is None else str(one.kernels)
    return f"{count} ✓" if one in explanation.causes else count


def differences(explanation: Explanation) -> str:
    """Return ``cast 12 against 0, broadcast 4 against 0``; nothing where there is nothing to compare."""
    return ", ".join(f"{one.kind} {one.here} against {one.there}" for one in explanation.differences)


def mb(count: int | None) -> str:
    """Return bytes in megabytes: ``67.1``, ``0``, ``<0.1``; ``?`` where they are not known."""
    if not count:
        return UNKNOWN if count is None else "0"
    return f"{count / 1e6:.1f}" if count >= 5e4 else "<0.1"


def warm(one: Pass) -> Timing | None:
    """Return the timing with a warm L2 cache, if the pass was timed."""
    return next((timing for timing in one.timings if timing.l2 == "warm"), None)


def _is_symbolic(one: Pass) -> bool:
    kernels = [kernel for region in one.regions if region.compiler == "nvfuser" for kernel in region.kernels]
    return any(buffer.bytes is None for kernel in kernels for buffer in (*kernel.reads, *kernel.writes))


def _passes(comparison: Comparison, direction: Direction) -> list[Pass]:
    return [one for run in comparison.runs if (one := run.get(direction))]


def _columns(comparison: Comparison, direction: Direction) -> Sequence[_Column]:
    timed = any(map(warm, _passes(comparison, direction)))
    saved = direction == "forward" and comparison.grad
    return (
        *_COUNTS,
        *(_TIMES if timed else ()),
        *((_SAVED,) if saved else ()),
        _TRAFFIC,
        *((_RATE,) if timed else ()),
    )


def _total(tensors: Sequence[TensorFacts]) -> str:
    return mb(sum(tensor.bytes for tensor in tensors))


def _time(timing: Timing | None, us: Callable[[Timing], float]) -> str:
    return NONE if timing is None else f"{us(timing):.1f}"


def _rate(one: Pass, timing: Timing | None) -> str:
    return f"{one.least_bytes / timing.kernel_us / 1e3:.0f}" if timing and timing.kernel_us else NONE
