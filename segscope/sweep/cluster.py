"""A Dask cluster as an executor."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from typing import Final

from segscope.errors import SegscopeError

_SECONDS_TO_CONNECT: Final = 10


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Connect to the Dask scheduler at an address such as ``tcp://host:8786``; its workers run what is submitted.

    Workers need segscope, and toolchains, which they install where they are missing: with one task at a time in a
    worker that has a CPU or two and 1 GB of memory.

    Raises SegscopeError without distributed, and where no scheduler answers.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.addressing import parse_address
        from distributed.comm.registry import get_backend
    except ImportError:
        raise SegscopeError("a Dask cluster needs distributed: pip install 'segscope[dask]'") from None
    try:
        get_backend(parse_address(address)[0])  # a client that was begun for an unknown scheme takes 20 s to go away
        client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SegscopeError(f"no Dask scheduler at {address}: {error}") from None
    with client:
        try:
            yield client.get_executor()
        except (KilledWorker, CancelledError) as error:
            raise SegscopeError(
                f"the Dask cluster at {address} broke down: {error}; the same goes on from there"
            ) from None
