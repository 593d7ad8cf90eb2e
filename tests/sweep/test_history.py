"""docs/history: RoPE through nvFuser's published history, against what was found by hand."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from segscope.sweep import dated, product, sweep
from segscope.sweep.table import to_csv

FOLDER = Path(__file__).parent.parent.parent / "docs" / "history"
LLAMA, TINY = "Llama-2-13b-hf", "tiny-llama-1.1b"

NO_OPTION = None
"""This nvFuser knows no option resize_scheduler."""

TWO = "2 pw 4 ee"
TWO_RESIZE = "2 rs 4 ee"
THREE = "2 rs 1 pw 3 ee"
FOUND_BY_HAND = {
    # nvFuser: torch, Llama-2-13b, the same with resize_scheduler disabled, tiny-llama, the same, form of the dump
    "0.1.6.dev20240313": ("2.2.2", "6 pw 5 no", NO_OPTION, "9 pw 3 no", NO_OPTION, "E2"),
    "0.2.0.dev20240316": ("2.2.2", "6 pw 5 no", NO_OPTION, "9 pw 3 no", NO_OPTION, "E2"),
    "0.2.8.dev20240723": ("2.4.0", "6 pw 5 no", NO_OPTION, "8 pw 1 tr 2 no", NO_OPTION, "E3/E4"),
    "0.2.9.dev20240808": ("2.4.0", "8 pw 7 no", NO_OPTION, "7 pw 5 no", NO_OPTION, "E4"),
    "0.2.22.dev20241030": ("2.5.1", "4 pw 8 no", NO_OPTION, "5 pw 7 no", NO_OPTION, "E6"),
    "0.2.23.dev20241115": ("2.5.1", "4 pw 8 no", NO_OPTION, "5 pw 7 no", NO_OPTION, "E6"),
    "0.2.23.dev20241201": ("2.5.1", "4 pw 8 no", NO_OPTION, "5 pw 7 no", NO_OPTION, "E7"),
    "0.2.24.dev20250101": ("2.5.1", "4 pw 8 no", NO_OPTION, "6 pw 7 no", NO_OPTION, "E7"),
    "0.2.24.dev20250115": ("2.5.1", "4 pw 8 no", NO_OPTION, "5 pw 7 no", NO_OPTION, "E7"),
    "0.2.25.dev20250201": ("2.5.1", "2 pw 4 no", NO_OPTION, "5 pw 7 no", NO_OPTION, "E7"),
    "0.2.26.dev20250215": ("2.5.1", "2 pw 4 no", NO_OPTION, "5 pw 7 no", NO_OPTION, "E7"),
    "0.2.26.dev20250302": ("2.6.0", "2 pw 4 ee", NO_OPTION, "5 pw 7 ee", NO_OPTION, "E7"),
    "0.2.27.dev20250401": ("2.6.0", TWO_RESIZE, TWO, THREE, "5 pw 7 ee", "E7"),
    "0.2.27.dev20250415": ("2.6.0", TWO_RESIZE, TWO, THREE, "5 pw 7 ee", "E7"),
    "0.2.27.dev20250428": ("2.7.1", TWO_RESIZE, TWO, THREE, "5 pw 7 ee", "E7"),
    "0.2.27.dev20250701": ("2.7.1", TWO_RESIZE, TWO, THREE, "5 pw 7 ee", "E7"),
    "0.2.28.dev20250801": ("2.7.1", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E8"),
    "0.2.29.dev20250810": ("2.8.0", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E8"),
    "0.2.34.dev20251001": ("2.8.0", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E8"),
    "0.2.34.dev20251101": ("2.9.1", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E8"),
    "0.2.35.dev20260101": ("2.9.1", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E8"),
    "0.2.35.dev20260115": ("2.9.1", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E9"),
    "0.2.35.dev20260215": ("2.10.0", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E10"),
    "0.2.36.dev20260301": ("2.10.0", TWO_RESIZE, TWO, THREE, "4 pw 5 ee", "E10"),
}
SCHEDULERS = {"pw": "pointwise", "rs": "resize", "tr": "transpose", "ee": "expr_eval", "no": "no_op"}


def read_rows(text: str) -> dict[tuple[str, str, str], dict[str, str]]:
    """Return the rows by configuration, toolchain and disabled options."""
    rows = csv.DictReader(text.splitlines())
    return {(row["config"], row["toolchain"], row["disable"]): row for row in rows}


TABLE = read_rows((FOLDER / "table.csv").read_text())


def test_every_toolchain_and_option_has_a_row() -> None:
    options = ("", "resize_scheduler")
    assert list(TABLE) == [(config, name, option) for config in (LLAMA, TINY) for option in options for name in dated()]
    assert {row["nvfuser"] for row in TABLE.values()} == set(FOUND_BY_HAND)


@pytest.mark.parametrize("key", list(TABLE), ids=" ".join)
def test_a_row_is_as_found_by_hand(key: tuple[str, str, str]) -> None:
    row = TABLE[key]
    torch, *counts, era = FOUND_BY_HAND[row["nvfuser"]]
    expected = counts[2 * (key[0] == TINY) + bool(key[2])]
    assert (row["torch"], row["era"]) == (torch, era)
    if expected is NO_OPTION:
        assert row["outcome"] == "no dump"
        assert "option" in row["problem"]
        assert "resize_scheduler" in row["problem"]
        return
    words = expected.split()
    found = {SCHEDULERS[name]: count for count, name in zip(words[::2], words[1::2], strict=True)}
    assert {name: row[name] for name in SCHEDULERS.values()} == {
        name: found.get(name, "0") for name in SCHEDULERS.values()
    }
    kernels = sum(int(count) for name, count in found.items() if name not in ("no_op", "expr_eval"))
    assert int(row["kernel_groups"]) == kernels
    assert int(row["groups"]) == sum(map(int, found.values()))


def test_what_ended_badly_is_known() -> None:
    badly = {(config, name): row["outcome"] for (config, name, _), row in TABLE.items() if row["outcome"] != "no dump"}
    assert {key: outcome for key, outcome in badly.items() if outcome != "ok"} == {
        (TINY, "nvfuser-0.2.8"): "crashed",
        (TINY, "nvfuser-0.2.22.dev20241030"): "error",
    }


def test_the_chart_shows_each_series_and_each_toolchain() -> None:
    chart = (FOLDER / "chart.svg").read_text()
    for config in (LLAMA, TINY):
        assert f">rope {config}, h200<" in chart
        assert f">rope {config}, h200, disable=resize_scheduler<" in chart
    dates = re.findall(r">\S+  (\d{4}-\d\d-\d\d)<", chart)
    assert dates == [row["date"] for (config, _, option), row in TABLE.items() if config == LLAMA and not option]


@pytest.mark.toolchain
def test_the_same_comes_out_again(tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    toolchains = [need_toolchain("nvfuser-0.2.8"), need_toolchain("nvfuser-0.2.36")]
    points = product("rope", toolchains=toolchains, configs=[LLAMA, TINY], disable=["none", "resize_scheduler"])
    again = read_rows(to_csv(sweep(points, folder=tmp_path)).decode())
    assert len(again) == 8
    assert again == {key: TABLE[key] for key in again}
