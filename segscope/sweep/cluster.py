"""A Dask cluster as an executor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from segscope.errors import SegscopeError

_SECONDS_TO_CONNECT: Final = 10
_SECONDS_TO_REACH: Final = 3


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Connect to the Dask scheduler at an address such as ``tcp://host:8786``; its workers run what is submitted.

    Workers need segscope, and toolchains, which they install where they are missing: with one task at a time in a
    worker that has a CPU or two and 1 GB of memory.

    Raises SegscopeError without distributed, and where no scheduler answers.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.core import connect
    except ImportError:
        raise SegscopeError("a Dask cluster needs distributed: pip install 'segscope[dask]'") from None

    async def greet() -> None:
        reaching = connect(address, timeout=_SECONDS_TO_REACH)  # its time is only until something accepts
        (await asyncio.wait_for(reaching, 2 * _SECONDS_TO_REACH)).abort()

    try:
        with ThreadPoolExecutor(1) as pool:  # a client that was begun in vain takes 20 s to go away, with a traceback
            pool.submit(asyncio.run, greet()).result()
        client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (asyncio.TimeoutError, OSError, ValueError, MemoryError) as error:  # MemoryError: no Dask, read as a length
        raise SegscopeError(f"no Dask scheduler at {address}: {str(error) or 'no answer'}") from None
    with client:
        try:
            yield client.get_executor()
        except (KilledWorker, CancelledError) as error:
            raise SegscopeError(
                f"the Dask cluster at {address} broke down: {error}; the same goes on from there"
            ) from None
