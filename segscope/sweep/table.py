"""The table of a sweep: a row a point, as CSV, JSON and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Final

from segscope.capture.toolchain import ToolchainSpec, get
from segscope.sweep.result import Result
from segscope.vocabulary import SCHEDULERS

Cell = str | int | None

_TEXTS: Final = (
    *("workload", "config", "toolchain", "nvfuser", "torch", "date", "era", "card"),
    *("disable", "enable", "outcome", "problem"),
)
_COUNTS: Final = ("groups", "kernel_groups")


def rows(results: Sequence[Result]) -> list[dict[str, Cell]]:
    """Return a row for each result, in their order, all with the same columns.

    ``nvfuser`` and ``torch`` are versions, ``date`` and ``era`` those of the toolchain; ``groups``, ``kernel_groups``,
    and a column for each scheduler that any result has, with how many groups it has. Counts are None where there is no
    whole dump, texts are empty where there is nothing to say.
    """
    schedulers = in_order(name for result in results for name in result.schedulers)
    return [_row(result, schedulers) for result in results]


def in_order(schedulers: Iterable[str]) -> list[str]:
    """Return the schedulers, each once, in the order of ``segscope.vocabulary.SCHEDULERS``, unknown ones last."""
    present = set(schedulers)
    return [name for name in SCHEDULERS if name in present] + sorted(present.difference(SCHEDULERS))


def to_csv(results: Sequence[Result]) -> bytes:
    """Return the rows as CSV with a header; a count that is not known is empty."""
    text = io.StringIO()
    table = rows(results)
    writer = csv.DictWriter(text, table[0] if table else (*_TEXTS, *_COUNTS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue().encode()


def to_json(results: Sequence[Result]) -> bytes:
    """Return the rows as a JSON list of objects."""
    return f"{json.dumps(rows(results), indent=1, ensure_ascii=False)}\n".encode()


def to_parquet(results: Sequence[Result]) -> bytes:
    """Return the rows as Parquet. Raises ImportError without pyarrow."""
    import pyarrow
    from pyarrow import parquet

    table = rows(results)
    kinds = {name: pyarrow.string() if name in _TEXTS else pyarrow.int64() for name in table[0]}
    written = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist(table, schema=pyarrow.schema(kinds)), written)
    return written.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _row(result: Result, schedulers: Sequence[str]) -> dict[str, Cell]:
    point = result.point
    texts = (
        *(point.workload, point.config or "", point.toolchain, *_versions(result), point.card),
        *(",".join(point.disable), ",".join(point.enable), result.outcome, result.problem),
    )
    counted = {name: result.schedulers.get(name, 0) if result.counted else None for name in schedulers}
    counts = dict(zip(_COUNTS, (result.groups, result.kernel_groups), strict=True))
    return {**dict(zip(_TEXTS, texts, strict=True)), **counts, **counted}


def _versions(result: Result) -> tuple[str, str, str, str]:
    """Return nvFuser's and torch's version, and the toolchain's date and era, each empty where it is not known."""
    spec = get(result.point.toolchain)
    if isinstance(spec, ToolchainSpec):
        return spec.version("nvfuser"), spec.version("torch"), spec.date, spec.era
    return result.versions.get("nvfuser", ""), result.versions.get("torch", ""), spec.date, ""
