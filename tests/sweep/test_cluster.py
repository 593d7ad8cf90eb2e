"""A sweep on a Dask cluster of two worker processes."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import dask
import pytest
from distributed import LocalCluster

from segscope.errors import SegscopeError
from segscope.model import Capture
from segscope.sweep import Point, product, sweep
from segscope.sweep.cluster import dask_executor
from segscope.sweep.table import to_csv
from tests.conftest import Cli
from tests.sweep import fake


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    patient = dask.config.set({"distributed.comm.timeouts.connect": "120s"})  # a busy machine starts workers slowly
    with (
        patient,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
    ):
        yield cluster.scheduler_address


def test_workers_make_what_this_process_makes(address: str, tmp_path: Path) -> None:
    wanted = fake.points()
    with dask_executor(address) as executor:
        there = sweep(wanted, folder=tmp_path / "there", capture=fake.capture, executor=executor)
    here = sweep(wanted, folder=tmp_path / "here", capture=fake.capture)
    assert to_csv(there) == to_csv(here)


@pytest.mark.toolchain
def test_real_captures(address: str, cli: Cli, tmp_path: Path, need_toolchain: Callable[[str], str]) -> None:
    names = [need_toolchain("nvfuser-0.2.8"), need_toolchain("nvfuser-0.2.36")]
    axes = [argument for name in names for argument in ("--toolchain", name)]
    done = cli("sweep", "slice-rotate-cat", *axes, "--dask", address, "--out", tmp_path)
    assert done.code == 0
    assert "2/2 slice-rotate-cat, h200 in nvfuser-0.2." in done.err
    points = product("slice-rotate-cat", toolchains=names)
    results = sweep(points, folder=tmp_path, capture=fake.capture)  # all are there
    assert [result.outcome for result in results] == ["ok", "ok"]
    assert [result.kernels for result in results] == [{"pointwise": 5}, {"resize": 1}]


def test_workers_that_die_are_one_line(address: str, tmp_path: Path) -> None:
    with (
        pytest.raises(SegscopeError, match=r"the Dask cluster at \S+ broke down: "),
        dask_executor(address) as executor,
    ):
        sweep(fake.points()[:1], folder=tmp_path, capture=_end_this_process, executor=executor)


def _end_this_process(point: Point) -> Capture:
    os._exit(3)


def test_what_listens_and_says_nothing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segscope.sweep.cluster._SECONDS_TO_REACH", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(SegscopeError, match=f"no Dask scheduler at {address}: "), dask_executor(address):
            pass


def test_no_scheduler_is_one_line() -> None:
    with (
        pytest.raises(SegscopeError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"),
        dask_executor("tcp://127.0.0.1:9"),
    ):
        pass
    with pytest.raises(SegscopeError, match="no Dask scheduler at nowhere://x"), dask_executor("nowhere://x"):
        pass
