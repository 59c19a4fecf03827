"""Work that threads do ahead of the one who waits for it, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ahead(
    executor: Executor, work: Callable[[T], R], items: Iterable[T], *, depth: int
) -> Iterator[Future[R]]:
    """Yield a future for each item, in their order; no more than `depth` are begun before theirs
    is asked for."""
    begun: deque[Future[R]] = deque()
    for item in items:
        begun.append(executor.submit(work, item))
        if len(begun) > depth:
            yield begun.popleft()
    yield from begun
