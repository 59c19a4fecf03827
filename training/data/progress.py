"""How far a long piece of work is, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Progress(Protocol):
    """Told what has just been done; may be called from any thread."""

    def advance(self, amount: int) -> None: ...


class _Silent:
    def advance(self, amount: int) -> None:
        pass


SILENT: Progress = _Silent()
"""Shows nothing."""


ShowProgress = Callable[[str, int], AbstractContextManager[Progress]]
"""Makes the display of one part of the work, given its name and its amount."""


def format_bytes(value: int) -> str:
    """Return a number of bytes for people: `1.2 GB`."""
    amount = float(value)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"
        amount /= 1000
    return f"{amount:,.1f} TB"
