"""SIGINT and SIGTERM: collected by a launcher that has processes to end first, or taken as one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def collected() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying of them."""
    asked: list[int] = []
    before = {
        number: signal.signal(number, lambda received, _frame: asked.append(received))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, where this is the main thread."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # another thread: signals reach the main one
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
