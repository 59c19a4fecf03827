"""SIGINT and SIGTERM, collected by a launcher that has processes to end first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


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
