"""A pool of threads that can be left at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def thread_pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Give a pool that drops the work that still waits when the block is left, by Ctrl-C too.

    A plain pool would first finish all of it: hours, for a large data set.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
