"""Run the points of a sweep, several at a time; what is there already is not run again."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from segscope.errors import SegscopeError
from segscope.model import Capture
from segscope.sweep.point import Point, capture_point
from segscope.sweep.result import Failure, Result
from segscope.sweep.store import Store


class Results(list[Result]):
    """Results, which show themselves as a table and a chart in a notebook."""

    def _repr_mimebundle_(self, include: Collection[str] | None = None, exclude: object = None) -> dict[str, str]:
        from segscope.render.notebook import sweep_mimebundle

        return sweep_mimebundle(self, include)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self._repr_mimebundle_({"text/plain"})["text/plain"])  # IPython has a text of its own for lists


def sweep(
    points: Iterable[Point],
    *,
    folder: str | Path,
    executor: Executor | None = None,
    retry_failed: bool = False,
    capture: Callable[[Point], Capture] = capture_point,
    on_result: Callable[[Result], None] = lambda result: None,
) -> Results:
    """Return what became of each point, in their order, after running those whose result is not in the folder, and
    those for which there was no toolchain or device.

    A sweep that ended at any moment, even by SIGKILL, goes on where it was when it is called again.

    Args:
        points: such as ``product`` returns.
        folder: holds a file a point: its capture as JSON, or, ending in ``.failed.json``, why there is none.
        executor: runs the points, here or elsewhere: there, segscope must be installed and have the toolchains, or be
            able to install them. Only this process writes to the folder. If None, as many points are run at a time as
            there are CPUs; each runs in a child process, so threads do.
        retry_failed: run those again that have no whole dump.
        capture: makes the capture of a point, or raises SegscopeError, which is recorded as that point's result; it
            must be picklable where the executor's processes are others.
        on_result: is called here with each result, as soon as it is there.

    Raises:
        SegscopeError: a toolchain or card is not known, another process uses the folder, the folder cannot be written
            to, or the executor broke down.
    """
    wanted = list(dict.fromkeys(points))
    store = Store(Path(folder))
    with store.locked():
        store.remember(wanted)
        results = _there(wanted, store, retry_failed)
        for found in results.values():
            on_result(found)
        to_run = [point for point in wanted if point not in results]
        with _running(executor, capture, to_run) as futures:
            for future in as_completed(futures):
                point = futures.pop(future)  # with it goes the capture, once it is written
                results[point] = store.write(point, future.result())
                on_result(results[point])
    return Results(results[point] for point in wanted)


def missing(points: Iterable[Point], *, folder: str | Path, retry_failed: bool = False) -> list[Point]:
    """Return the points that `sweep` would run."""
    wanted = list(dict.fromkeys(points))
    there = _there(wanted, Store(Path(folder)), retry_failed)
    return [point for point in wanted if point not in there]


def _there(points: Iterable[Point], store: Store, retry_failed: bool) -> dict[Point, Result]:
    found = {point: result for point in points if (result := store.settled(point))}
    return {point: result for point, result in found.items() if result.counted or not retry_failed}


def attempt(capture: Callable[[Point], Capture], point: Point) -> Capture | Failure:
    """Return a point's capture, or why there is none."""
    try:
        return capture(point)
    except SegscopeError as error:
        return Failure.of(error)


@contextmanager
def _running(
    executor: Executor | None, capture: Callable[[Point], Capture], points: list[Point]
) -> Iterator[dict[Future[Capture | Failure], Point]]:
    """Submit the points, and where the block does not get to its end, wait for those that run and cancel the others."""
    pool = executor or ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    futures: dict[Future[Capture | Failure], Point] = {}
    try:
        futures |= {pool.submit(attempt, capture, point): point for point in points}
        yield futures
    except BrokenExecutor as error:
        raise SegscopeError(f"the executor broke down: {error}; the same again goes on from what is done") from None
    finally:
        for future in futures:
            future.cancel()
        if executor is None:
            pool.shutdown()
