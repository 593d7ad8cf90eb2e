"""The table and the chart of a sweep."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyarrow import parquet

from segscope.render import palette
from segscope.sweep import Result, sweep
from segscope.sweep.chart import to_svg
from segscope.sweep.outputs import write_outputs
from segscope.sweep.table import rows, to_csv, to_json, to_parquet
from tests.sweep import fake

COLUMNS = (
    "workload config toolchain nvfuser torch date era card disable enable outcome problem groups kernel_groups"
).split()

SCHEDULERS = ("no_op", "pointwise", "transpose", "inner_persistent", "persistent")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    return sweep(fake.points(), folder=tmp_path_factory.mktemp("sweep"), capture=fake.capture)


def test_a_row_is_a_point(results: list[Result]) -> None:
    table = rows(results)
    assert len(table) == 24
    assert {tuple(row) for row in table} == {(*COLUMNS, *SCHEDULERS)}
    assert table[0] == {
        "workload": "rope",
        "config": "Llama-2-13b-hf",
        "toolchain": "nvfuser-0.2.8",
        "nvfuser": "0.2.8.dev20240723",
        "torch": "2.4.0",
        "date": "2024-07-23",
        "era": "E3/E4",
        "card": "h200",
        "disable": "",
        "enable": "",
        "outcome": "ok",
        "problem": "",
        "groups": results[0].groups,
        "kernel_groups": results[0].kernel_groups,
        **{name: results[0].schedulers.get(name, 0) for name in SCHEDULERS},
    }


def test_what_is_not_known_is_not_zero(results: list[Result]) -> None:
    failed = [row for row in rows(results) if row["outcome"] in ("incomplete", "no dump", "not run")]
    assert len(failed) == 12
    assert {row[name] for row in failed for name in ("groups", "kernel_groups", "pointwise")} == {None}


def test_csv_json_and_parquet_say_the_same(results: list[Result]) -> None:
    table = rows(results)
    assert json.loads(to_json(results)) == table
    assert parquet.read_table(io.BytesIO(to_parquet(results))).to_pylist() == table
    as_text = [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in table]
    assert list(csv.DictReader(io.StringIO(to_csv(results).decode()))) == as_text


def test_a_bar_for_each_scheduler_with_kernel_groups(results: list[Result]) -> None:
    svg = to_svg(results).decode()
    drawn = re.findall(r"fill: (#[0-9a-f]{6}); stroke: (#[0-9a-f]{6})", svg)
    for scheduler in ("pointwise", "transpose"):
        style = palette.kernel_style(scheduler)
        bars = sum(result.kernels.get(scheduler, 0) > 0 for result in results)
        assert bars > 0
        assert drawn.count((style.fill, style.border)) == bars + 1  # and one in the legend
    assert (palette.kernel_style("no_op").fill, palette.kernel_style("no_op").border) not in drawn


def test_the_chart_says_what_it_shows(results: list[Result]) -> None:
    texts = [
        element.text for element in ElementTree.fromstring(to_svg(results)).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert [text for text in texts if text and text.startswith("rope ")] == list(
        dict.fromkeys(result.point.series for result in results)
    )
    assert [text for text in texts if text and text.startswith("0.2.")] == [
        "0.2.8  2024-07-23",
        "0.2.25  2025-02-01",
        "0.2.36  2026-03-01",
    ]
    assert texts.count("×") == 12
    assert {*SCHEDULERS[1:], "kernel groups", "× no whole dump"} < set(texts)


def test_the_same_results_are_the_same_bytes(results: list[Result]) -> None:
    assert to_svg(results) == to_svg(list(results))
    assert to_parquet(results) == to_parquet(list(results))


def test_series_may_come_in_any_order(results: list[Result]) -> None:
    by_toolchain = sorted(results, key=lambda result: result.point.toolchain)
    assert sorted(re.findall(r">rope [^<]*<", to_svg(by_toolchain).decode())) == sorted(
        re.findall(r">rope [^<]*<", to_svg(results).decode())
    )
    assert to_svg(by_toolchain).count(b"#8ecbf2") == to_svg(results).count(b"#8ecbf2")


def test_the_page_needs_nothing_else(results: list[Result], tmp_path: Path) -> None:
    written, missing = write_outputs(results, tmp_path)
    assert ([path.name for path in written], missing) == (
        ["table.csv", "table.json", "table.parquet", "chart.svg", "chart.html"],
        [],
    )
    page = (tmp_path / "chart.html").read_text()
    assert "default-src 'none'" in page
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
    assert page.count("<tr>") == 1 + len(results)
    for result in results:
        assert result.file.name.replace("=", "%3D") in page


def test_a_problem_is_text_in_the_page(results: list[Result], tmp_path: Path) -> None:
    hostile = results[-1].model_copy(update={"problem": "</td><script>alert(1)</script>\x07"})
    write_outputs([*results, hostile], tmp_path)
    page = (tmp_path / "chart.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page


def test_without_the_extra_there_are_csv_and_json(
    results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyarrow", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    written, missing = write_outputs(results, tmp_path)
    assert ([path.name for path in written], missing) == (["table.csv", "table.json"], ["pyarrow", "matplotlib"])


def test_results_without_a_single_capture_have_a_table_and_a_chart(results: list[Result], tmp_path: Path) -> None:
    failed = [result for result in results if not result.counted]
    assert list(rows(failed)[0]) == COLUMNS
    written, missing = write_outputs(failed, tmp_path)
    assert (len(written), missing) == (5, [])
