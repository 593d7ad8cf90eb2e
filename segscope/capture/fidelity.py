"""Whether the null device stands in for a real GPU: what nvFuser printed on both, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from segscope.checks.structure import structure
from segscope.model import Capture
from segscope.model.base import Model

Outcome = Literal["identical", "renumbered", "unsteady", "different", "failed"]

OUTCOMES: Final[dict[Outcome, str]] = {
    "identical": "every run on either device printed the same bytes (or the same few, which vary on both)",
    "renumbered": "the bytes differ, but only in numbers and in order: the segmentation is the same",
    "unsteady": "segmentations vary from run to run on one device; one of them came up on both",
    "different": "no segmentation came up on both devices",
    "failed": "a run on the null device printed no segmented fusion",
}
_AGREE: Final = frozenset({"identical", "renumbered", "unsteady"})


class Side(Model):
    """What the runs of one workload on one device printed."""

    runs: int
    dumps: int
    """How many different ones there are, byte by byte."""
    segmentations: int
    """How many different ones there are without numbers and order."""
    schedulers: dict[str, int]
    """How many groups each scheduler has, over all fusions of the first run."""
    kernel_groups: int
    """Over all fusions of the first run."""


class Comparison(Model):
    """One workload on both devices."""

    workload: str
    outcome: Outcome
    gpu: Side
    null: Side | None
    """None where the null device gave no capture."""
    notes: tuple[str, ...] = ()
    """What a reader should know: answers that were invented, runs that ended badly, what varied."""

    @property
    def agrees(self) -> bool:
        """Whether nothing tells the devices apart but numbers, and what varies on one of them alone."""
        return self.outcome in _AGREE


class Place(Model):
    """Where the runs of one side were made."""

    toolchain: str
    versions: dict[str, str]


class Fidelity(Model):
    """Every workload on both devices."""

    card: str
    """The GPU's name, as torch reports it, which is also the card that the null device played."""
    gpu: Place
    null: Place | None
    """None where the null device gave no capture at all."""
    comparisons: tuple[Comparison, ...]

    @property
    def agrees(self) -> bool:
        """Whether all comparisons agree."""
        return all(comparison.agrees for comparison in self.comparisons)

    @property
    def summary(self) -> str:
        """How many workloads came out how: ``25 workloads on NVIDIA H200: 24 identical, 1 renumbered``."""
        outcomes = Counter(comparison.outcome for comparison in self.comparisons)
        counted = ", ".join(f"{outcomes[name]} {name}" for name in OUTCOMES if outcomes[name])
        count = len(self.comparisons)
        return f"{count} workload{'s' if count != 1 else ''} on {self.card}: {counted}"


def compare(gpu: Sequence[Capture], null: Sequence[Capture], problems: Sequence[str] = ()) -> Comparison:
    """Compare one workload's runs on a GPU with its runs on the null device, of which some may have failed.

    The captures are such as ``capture_rope`` returns: they have a dump and a provenance.
    """
    notes = [*dict.fromkeys(problems)]
    for side, captures in (("GPU", gpu), ("null device", null)):
        notes += _notes(side, captures)
    return Comparison(
        workload=title(gpu[0]),
        outcome="failed" if problems else _outcome(gpu, null),
        gpu=_side(gpu),
        null=_side(null) if null else None,
        notes=tuple(notes),
    )


def title(capture: Capture) -> str:
    """Name what was captured: ``rope tiny-llama-1.1b both, NVFUSER_DISABLE=resize_scheduler``."""
    made = capture.provenance
    assert made is not None
    words = [made.workload, *(str(made.options[name]) for name in ("config", "direction") if name in made.options)]
    variables = [f"{name}={value}" for name, value in made.environment.items() if name != "NVFUSER_DUMP"]
    return ", ".join([" ".join(words), *(["bookend"] if made.options.get("bookend") else []), *variables])


def _outcome(gpu: Sequence[Capture], null: Sequence[Capture]) -> Outcome:
    if _dumps(gpu) == _dumps(null):
        return "identical"
    ours, theirs = _segmentations(null), _segmentations(gpu)
    if ours == theirs:
        return "renumbered"
    return "unsteady" if ours & theirs else "different"


def _side(captures: Sequence[Capture]) -> Side:
    first = captures[0]
    return Side(
        runs=len(captures),
        dumps=len(_dumps(captures)),
        segmentations=len(_segmentations(captures)),
        schedulers=first.schedulers,
        kernel_groups=int(first.count()),
    )


def _dumps(captures: Sequence[Capture]) -> set[str]:
    return {capture.dump or "" for capture in captures}


def _segmentations(captures: Sequence[Capture]) -> set[tuple[tuple[str, str], ...]]:
    found = [[structure(fusion) for fusion in capture.fusions] for capture in captures]
    return {tuple((fusion.computation, fusion.segmentation) for fusion in fusions) for fusions in found}


def _notes(side: str, captures: Sequence[Capture]) -> list[str]:
    notes: list[str] = []
    for capture in captures:
        made = capture.provenance
        assert made is not None
        notes += made.notes
        if (end := made.end).outcome != "ok":
            notes.append(f"{side}: a run ended badly after its dump: {end.how}")
        if not capture.complete:
            notes.append(f"{side}: a dump is incomplete")
    if (segmentations := len(_segmentations(captures))) > 1:
        notes.append(f"{side}: {segmentations} segmentations in {len(captures)} runs")
    elif (dumps := len(_dumps(captures))) > 1:
        notes.append(f"{side}: {dumps} numberings in {len(captures)} runs")
    return list(dict.fromkeys(notes))
