"""Shows progress on stderr: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from training.cli import log
from training.data.progress import Progress, format_bytes

SECONDS_BETWEEN_LINES = 10.0


class _Lines:
    """Prints a line at most every few seconds: a log file is no place for a bar."""

    def __init__(self, title: str, total: int, unit: str) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._done = 0
        self._next_line_at = time.monotonic() + SECONDS_BETWEEN_LINES
        self._lock = threading.Lock()

    def advance(self, amount: int) -> None:
        with self._lock:
            self._done += amount
            if time.monotonic() < self._next_line_at:
                return
            self._next_line_at = time.monotonic() + SECONDS_BETWEEN_LINES
            percent = 100 * self._done // max(self._total, 1)
            log.print(
                f"{self._title}: {percent}% of {_amount(self._total, self._unit)}", markup=False
            )


@contextmanager
def show_progress(title: str, total: int, unit: str) -> Iterator[Progress]:
    """Show progress on stderr while the block runs.

    Args:
        title: What is being done.
        total: The amount at the end.
        unit: What is counted; `bytes` is shown as MB and GB.
    """
    if not log.is_terminal:
        yield _Lines(title, total, unit)
        return
    # Costs 30 ms, and only a person at a terminal needs it.
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bars

    amounts = (
        (DownloadColumn(), TransferSpeedColumn()) if unit == "bytes" else (MofNCompleteColumn(),)
    )
    columns = (TextColumn("{task.description}"), BarColumn(), *amounts, TimeRemainingColumn())
    with Bars(*columns, console=log, transient=True) as bars:
        task = bars.add_task(title, total=total)

        class _Bar:
            def advance(self, amount: int) -> None:
                bars.advance(task, amount)

        yield _Bar()


def _amount(value: int, unit: str) -> str:
    return format_bytes(value) if unit == "bytes" else f"{value:,} {unit}"
