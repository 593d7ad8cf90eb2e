"""Sweeps: what is run, what is kept, and that nothing which ends a sweep changes its table."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import segscope
from segscope.errors import CaptureError, SegscopeError
from segscope.model import Capture
from segscope.sweep import Point, Result, missing, product, sweep
from segscope.sweep.store import Store
from segscope.sweep.table import to_csv
from tests.conftest import FIXTURES
from tests.sweep import fake

OUTPUTS = ("table.csv", "table.json", "table.parquet", "chart.svg", "chart.html")


class Counting:
    """Makes fake captures and knows of which points."""

    def __init__(self) -> None:
        self.made: list[Point] = []

    def __call__(self, point: Point) -> Capture:
        self.made.append(point)
        return fake.capture(point)


def possible() -> list[Point]:
    """Points that there is a toolchain for; the others are tried again each time."""
    return [point for point in fake.points() if point.toolchain != fake.MIDDLE or not point.disable]


def test_each_point_has_a_result_in_order(tmp_path: Path) -> None:
    wanted = fake.points()
    results = sweep(reversed(wanted), folder=tmp_path, capture=fake.capture)
    assert [result.point for result in results] == wanted[::-1]
    by_point = {result.point: result for result in results}
    ok, crashed, half = (
        by_point[Point(workload="rope", config=config, toolchain=fake.NEW)]
        for config in ("tiny-llama-1.1b", "phi-2", "Gemma-7b")
    )
    assert (ok.outcome, ok.problem, ok.kernel_groups) == ("ok", "", sum(ok.kernels.values()))
    assert (crashed.outcome, crashed.problem, crashed.groups) == ("crashed", "SIGFPE", ok.groups)
    assert (half.outcome, half.groups, half.kernel_groups) == ("incomplete", None, None)
    assert half.problem.startswith("half a dump: line ")
    refused, impossible = (
        by_point[Point(workload="rope", config="phi-2", toolchain=name, disable=("resize_scheduler",))]
        for name in (fake.OLD, fake.MIDDLE)
    )
    assert (refused.outcome, impossible.outcome) == ("no dump", "not run")
    assert refused.problem.endswith(": no such option")
    assert impossible.problem.endswith(": no room")


def test_a_file_is_the_capture_itself(tmp_path: Path) -> None:
    point = fake.points()[0]
    (result,) = sweep([point], folder=tmp_path, capture=fake.capture)
    assert segscope.read(result.file) == fake.capture(point)


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    wanted, capture = possible(), Counting()
    first = sweep(wanted[:10], folder=tmp_path, capture=capture)
    assert sorted(capture.made, key=str) == sorted(wanted[:10], key=str)
    seen: list[Result] = []
    every = sweep(wanted, folder=tmp_path, capture=capture, on_result=seen.append)
    assert sorted(capture.made, key=str) == sorted(wanted, key=str)
    assert every[:10] == first
    assert sorted(seen, key=str) == sorted(every, key=str)


def test_what_had_no_toolchain_is_tried_again(tmp_path: Path) -> None:
    wanted, capture = fake.points(), Counting()
    before = sweep(wanted, folder=tmp_path, capture=fake.capture)
    after = sweep(wanted, folder=tmp_path, capture=capture)
    assert after == before
    assert capture.made == [result.point for result in before if result.outcome == "not run"]
    assert len(capture.made) == 4


def test_failures_are_run_again_where_that_is_asked(tmp_path: Path) -> None:
    wanted, capture = fake.points(), Counting()
    before = sweep(wanted, folder=tmp_path, capture=fake.capture)
    after = sweep(wanted, folder=tmp_path, capture=capture, retry_failed=True)
    assert after == before
    assert sorted(capture.made, key=str) == sorted((r.point for r in before if not r.counted), key=str)
    assert {r.outcome for r in before if not r.counted} == {"incomplete", "no dump", "not run"}


def test_a_capture_takes_the_place_of_a_failure(tmp_path: Path) -> None:
    point = Point(workload="rope", config="phi-2", toolchain=fake.OLD, disable=("resize_scheduler",))
    (failed,) = sweep([point], folder=tmp_path, capture=fake.capture)
    (made,) = sweep([point], folder=tmp_path, capture=_as_if_without_options, retry_failed=True)
    assert (failed.counted, made.counted) == (False, True)
    assert failed.file.name == f"{made.file.stem}.failed.json"
    assert not failed.file.exists()


def test_a_failure_takes_the_place_of_half_a_dump(tmp_path: Path) -> None:
    point = Point(workload="rope", config="Gemma-7b", toolchain=fake.NEW)
    (half,) = sweep([point], folder=tmp_path, capture=fake.capture)
    (failed,) = sweep([point], folder=tmp_path, capture=_refused, retry_failed=True)
    assert (half.outcome, failed.outcome) == ("incomplete", "no dump")
    assert sweep([point], folder=tmp_path, capture=fake.capture) == [failed]


def _refused(point: Point) -> Capture:
    raise CaptureError("refused")


def _as_if_without_options(point: Point) -> Capture:
    return fake.capture(point.model_copy(update={"disable": ()}))


@pytest.mark.parametrize("content", ["", '{"schema_version": 1, "source": "x"', '{"schema_version": 99}'])
def test_what_is_no_result_is_made_again(tmp_path: Path, content: str) -> None:
    point, capture = fake.points()[0], Counting()
    (before,) = sweep([point], folder=tmp_path, capture=fake.capture)
    before.file.write_text(content)
    assert sweep([point], folder=tmp_path, capture=capture) == [before]
    assert capture.made == [point]


def test_what_defines_a_point_keeps_results_apart(tmp_path: Path) -> None:
    point = fake.points()[0]
    changes = ({"card": "a100"}, {"disable": ("fallback",)}, {"enable": ("fallback",)}, {"config": "phi-2"})
    others = [point.model_copy(update=change) for change in ({}, *changes)]
    results = sweep(others, folder=tmp_path, capture=fake.capture)
    assert len({result.file for result in results}) == len(others)


def test_a_toolchain_with_other_pins_is_another_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from segscope.capture.toolchain import add_like

    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "home"))
    files = []
    for version in ("0.2.6", "0.2.5"):
        add_like("mine", fake.NEW, (f"lightning-thunder=={version}",))
        (point,) = product("rope", toolchains=["mine"])
        (result,) = sweep([point], folder=tmp_path, capture=_as_if_today)
        files.append(result.file)
    assert files[0] != files[1]


def test_an_nvfuser_that_was_built_again_is_another_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from segscope.capture.toolchain import add_interpreter

    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "home"))
    packages = tmp_path / "packages"
    for package in ("torch", "nvfuser"):
        (packages / package).mkdir(parents=True)
        (packages / package / "__init__.py").touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    add_interpreter("mine", python)
    (point,) = product("rope", toolchains=["mine"])
    files: list[Path] = []
    for build in (b"one", b"another", b"another"):
        if not files or build != (packages / "nvfuser" / "_C.so").read_bytes():
            (packages / "nvfuser" / "_C.so").write_bytes(build)
        (result,) = sweep([point], folder=tmp_path / "out", capture=_as_if_today)
        files.append(result.file)
    assert files[0] != files[1] == files[2]


def test_another_program_is_another_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = fake.points()[0]
    (before,) = sweep([point], folder=tmp_path, capture=fake.capture)
    monkeypatch.setattr("segscope.sweep.store._program", lambda workload: ["another"])
    assert missing([point], folder=tmp_path) == [point]
    (after,) = sweep([point], folder=tmp_path, capture=fake.capture)
    assert before.file != after.file


def test_what_was_swept_before_is_still_told_of(tmp_path: Path) -> None:
    wanted = fake.points()
    every = sweep(wanted, folder=tmp_path, capture=fake.capture)
    few = sweep(wanted[3:5], folder=tmp_path, capture=fake.capture)
    assert len(few) == 2
    store = Store(tmp_path)
    assert store.all_of("rope") == every
    assert store.all_of("rope-float32") == []


def test_a_sweep_that_grows_is_in_the_order_of_the_whole(tmp_path: Path) -> None:
    wanted = fake.points()
    for some in (wanted[1:2], wanted[:1], wanted):
        sweep(some, folder=tmp_path, capture=fake.capture)
    assert [result.point for result in Store(tmp_path).all_of("rope")] == wanted


def test_a_toolchain_that_is_not_known_any_more_is_not_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from segscope.capture.toolchain import add_like, remove

    monkeypatch.setenv("SEGSCOPE_HOME", str(tmp_path / "home"))
    add_like("mine", fake.NEW, ("lightning-thunder==0.2.5",))
    sweep(product("rope", toolchains=["mine"]), folder=tmp_path, capture=_as_if_today)
    assert len(Store(tmp_path).all_of("rope")) == 1
    remove("mine")
    assert Store(tmp_path).all_of("rope") == []


def test_missing_are_those_that_would_be_run(tmp_path: Path) -> None:
    wanted = possible()
    assert missing(wanted, folder=tmp_path) == wanted
    results = sweep(wanted[:-1], folder=tmp_path, capture=fake.capture)
    assert missing(wanted, folder=tmp_path) == wanted[-1:]
    failed = [result.point for result in results if not result.counted]
    assert missing(wanted, folder=tmp_path, retry_failed=True) == [*failed, wanted[-1]]


def _as_if_today(point: Point) -> Capture:
    return fake.capture(point.model_copy(update={"toolchain": fake.NEW}))


def _threads() -> Executor:
    return ThreadPoolExecutor(3)


def _processes() -> Executor:
    return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("executor", [_threads, _processes])
def test_any_executor_gives_the_same_table(tmp_path: Path, executor: type[Executor]) -> None:
    wanted = fake.points()
    alone = sweep(wanted, folder=tmp_path / "alone", capture=fake.capture)
    with executor() as pool:
        shared = sweep(wanted, folder=tmp_path / "shared", capture=fake.capture, executor=pool)
    assert to_csv(shared) == to_csv(alone)


def test_a_broken_executor_is_one_line(tmp_path: Path) -> None:
    with _processes() as pool, pytest.raises(SegscopeError, match="the executor broke down"):
        sweep(fake.points()[:2], folder=tmp_path, capture=_end_this_process, executor=pool)


def _end_this_process(point: Point) -> Capture:
    os._exit(3)


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    with Store(tmp_path).locked(), pytest.raises(SegscopeError, match="another segscope writes to"):
        sweep(fake.points(), folder=tmp_path, capture=fake.capture)


def test_a_folder_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SegscopeError, match=r"cannot write to .*: Not a directory"):
        sweep(fake.points(), folder=tmp_path / "file" / "folder", capture=fake.capture)


def test_an_error_of_a_capture_that_is_not_told_ends_the_sweep(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        sweep(fake.points(), folder=tmp_path, capture=_wrong)


def _wrong(point: Point) -> Capture:
    raise ZeroDivisionError


def test_killed_at_any_moment_it_ends_with_the_same_table(tmp_path: Path) -> None:
    """Three toolchains, four configurations, two options; each run is killed a few steps later than the one before."""
    disturbed, alone = tmp_path / "disturbed", tmp_path / "alone"
    there: list[int] = []
    for moment in (2, 56, 57, 70, 85, 40):
        assert _fake_sweep(disturbed, moment) == -signal.SIGKILL
        there.append(len(list(disturbed.glob("rope_*.json"))))
    assert there == sorted(there)
    assert there[0] == 0
    assert len(set(there)) > 3
    assert _fake_sweep(disturbed, 0) == 0
    assert _fake_sweep(alone, 0) == 0
    for name in OUTPUTS:
        assert (disturbed / name).read_bytes() == (alone / name).read_bytes()
    assert sorted(path.name for path in disturbed.iterdir()) == sorted(path.name for path in alone.iterdir())


def _fake_sweep(folder: Path, moment: int) -> int:
    command = [sys.executable, "-m", "tests.sweep.fake", str(folder), str(moment)]
    done = subprocess.run(command, cwd=FIXTURES.parent, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode
