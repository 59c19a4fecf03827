"""Run named steps one after the other and show how far they are."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from toolchain.processes import Progress, Text

TERMINAL_INTERVAL_S = 0.5
PIPE_INTERVAL_S = 15.0


def never() -> bool:
    return False


@dataclass(frozen=True)
class Step:
    """One piece of work.

    Attributes:
        title: What it does, for the user.
        run: Does it; what it passes on is shown while it lasts.
        is_done: Whether there is nothing to do. Takes milliseconds.
    """

    title: str
    run: Callable[[Progress], None]
    is_done: Callable[[], bool] = never


def run_steps(steps: Sequence[Step], *, stream: TextIO = sys.stderr) -> None:
    """Run steps in order; a failure of one stops all and is passed on."""
    width = max(len(step.title) for step in steps)
    for number, step in enumerate(steps, start=1):
        label = f"[{number}/{len(steps)}] {step.title:<{width}}"
        if step.is_done():
            stream.write(f"{label}  already done\n")
            stream.flush()
            continue
        with _Line(label, stream) as line:
            step.run(line.update)


class _Line:
    """The line of the step that runs: what it does just now and since how many seconds.

    On a terminal the line is rewritten in place; elsewhere (a log, CI) a new line says from time
    to time that the step still moves.
    """

    def __init__(self, label: str, stream: TextIO) -> None:
        self.label = label
        self.stream = stream
        self.text: Text = ""
        self.is_terminal = stream.isatty()
        self.columns = shutil.get_terminal_size(fallback=(120, 24)).columns
        self.started = time.monotonic()
        self.finished = threading.Event()
        self.ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> _Line:
        if not self.is_terminal:
            self._write(f"{self.label.rstrip()} ...\n")
        self.ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.finished.set()
        self.ticker.join()
        end = "done" if kind is None else "failed" if issubclass(kind, Exception) else "interrupted"
        start = "\r\x1b[K" if self.is_terminal else ""
        self._write(f"{start}{self.label}  {end} ({self._elapsed()})\n")

    def update(self, text: Text) -> None:
        self.text = text

    def _tick(self) -> None:
        interval_s = TERMINAL_INTERVAL_S if self.is_terminal else PIPE_INTERVAL_S
        while not self.finished.wait(interval_s):
            text = self.text if isinstance(self.text, str) else self.text()
            line = f"{self.label}  {self._elapsed()}  {text}"[: self.columns - 1]
            self._write(f"\r\x1b[K{line}" if self.is_terminal else f"{line}\n")

    def _elapsed(self) -> str:
        return in_words(time.monotonic() - self.started)

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def in_words(seconds: float) -> str:
    """Return a time as people say it: seconds, or minutes and seconds."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    # Rounded first: 419.8 s are 7 min 0 s, not 6 min 60 s.
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
