"""A policy over a folder of captures: what gets better, and what worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Final, Literal

from segscope.capture.options import words
from segscope.dump import read
from segscope.errors import SegscopeError
from segscope.model import Capture, SegmentedFusion
from segscope.model.base import Model
from segscope.segmenter.explore import Counts, counts_of
from segscope.segmenter.policy import Policy
from segscope.segmenter.run import Lab, OracleName
from segscope.segmenter.same import inexact, unknown
from segscope.segmenter.versions import Version, version, version_told_by

Verdict = Literal["better", "worse", "same", "not exact", "unknown", "failed"]

SUFFIXES: Final = (".txt", ".json", ".log")
"""Files of a folder that are taken for captures."""


class Row(Model):
    """What became of one fusion."""

    file: str
    """Relative to the folder."""
    fusion: int | None
    """Its index; None where the file could not be read."""
    real: Counts | None = None
    """As in the dump."""
    own: Counts | None = None
    """With nvFuser's own choices."""
    policy: Counts | None = None
    verdict: Verdict
    """* ``better``, ``worse``, ``same``: kernel groups with the policy against nvFuser's own choices;
    * ``not exact``: with nvFuser's own choices the dump was not met, so the policy is not judged;
    * ``unknown``: with the policy a set was offered of which nothing is known;
    * ``failed``: it could not be read or segmented."""
    why: str = ""
    """Why it failed, what differs from the dump, or of what nothing is known."""


def version_of(capture: Capture, fusion: SegmentedFusion) -> Version:
    """Return the version that made a capture: what it says of itself, else the one that the dump tells."""
    made = capture.provenance
    if made is None or "nvfuser" not in made.versions:
        return version_told_by(fusion)
    disabled = words(made.environment.get("NVFUSER_DISABLE", ""))
    found = version(made.versions["nvfuser"])
    return found.having("resize_scheduler", False) if "resize_scheduler" in disabled else found


def captures_in(folder: Path) -> tuple[Path, ...]:
    """Return the files below a folder that may be captures. SegscopeError where there is none."""
    if not folder.is_dir():
        raise SegscopeError(f"{folder}: no such folder")
    found = tuple(sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file()))
    if not found:
        raise SegscopeError(f"{folder}: no capture there; files are looked for that end with {', '.join(SUFFIXES)}")
    return found


def over_corpus(
    folder: Path,
    paths: Sequence[Path],
    policy: Policy,
    *,
    oracle: OracleName = "rules",
    version: str | None = None,
) -> Iterator[tuple[Path, tuple[Row, ...]]]:
    """Yield for each file a row a fusion, as files are done by a process a CPU."""
    run = partial(rows, folder, policy=policy, oracle=oracle, version=version)
    with ProcessPoolExecutor() as pool:
        waiting = {pool.submit(run, path): path for path in paths}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def rows(
    folder: Path, path: Path, *, policy: Policy, oracle: OracleName = "rules", version: str | None = None
) -> tuple[Row, ...]:
    """Return a row for each fusion of a file; a single one where it cannot be read."""
    file = path.relative_to(folder).as_posix()
    try:
        capture = read(path)
    except SegscopeError as error:
        return (Row(file=file, fusion=None, verdict="failed", why=str(error)),)
    found = []
    for fusion in capture.fusions:
        common = {"file": file, "fusion": fusion.index, "real": counts_of(fusion)}
        try:
            told = _judged(fusion, Lab(fusion, oracle=oracle, version=version or version_of(capture, fusion)), policy)
        except SegscopeError as error:
            told = {"verdict": "failed", "why": str(error)}
        found.append(Row.model_validate(common | told))
    return tuple(found)


def _judged(fusion: SegmentedFusion, lab: Lab, policy: Policy) -> dict[str, object]:
    own = lab.run()
    before = counts_of(own.fusion)
    told: dict[str, object] = {"own": before}
    if why := inexact(fusion, own):
        return told | {"verdict": "not exact", "why": why}
    other = lab.run(policy)
    if other.unknown:
        return told | {"verdict": "unknown", "why": unknown(other)}
    after = counts_of(other.fusion)
    fewer = before.kernel_groups - after.kernel_groups
    return told | {"policy": after, "verdict": "same" if not fewer else "better" if fewer > 0 else "worse"}
