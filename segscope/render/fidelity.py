"""What `segscope verify-device` found, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from segscope.capture.fidelity import OUTCOMES, Fidelity, Place, Side


def markdown(fidelity: Fidelity) -> str:
    """Return a page: what was compared, and a row for each workload."""
    found = {comparison.outcome for comparison in fidelity.comparisons}
    rows = [
        (
            comparison.workload,
            _counts(comparison.gpu),
            _counts(comparison.null) if comparison.null else "-",
            comparison.outcome,
            "; ".join(comparison.notes),
        )
        for comparison in fidelity.comparisons
    ]
    lines = [
        f"# The null device beside a real {fidelity.card}",
        "",
        "What nvFuser prints with `NVFUSER_DUMP=segmented_fusion` on that GPU, and on the null device that plays it.",
        "",
        *_table(
            [("", "toolchain", "versions"), ("GPU", *_place(fidelity.gpu)), ("null device", *_place(fidelity.null))]
        ),
        "",
        f"{fidelity.summary}.",
        "",
        *_table([("workload", "groups on the GPU", "on the null device", "outcome", "notes"), *rows]),
        "",
        *(f"* *{outcome}*: {meaning}." for outcome, meaning in OUTCOMES.items() if outcome in found),
    ]
    return "\n".join(lines) + "\n"


def _place(place: Place | None) -> tuple[str, str]:
    if place is None:
        return "-", "-"
    return place.toolchain, ", ".join(f"{name} {version}" for name, version in place.versions.items())


def _counts(side: Side) -> str:
    counted = ", ".join(f"{count} {scheduler}" for scheduler, count in sorted(side.schedulers.items()))
    return f"{counted} ({side.runs} run{'s' if side.runs != 1 else ''})"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]
