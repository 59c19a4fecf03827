"""A container of one host, while it runs and after."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass
class HostProcess:
    """A container of one host."""

    name: str
    process: subprocess.Popen[bytes]
    ml: Path
    printed: Path
    said: Path

    @property
    def main(self) -> psutil.Process:
        """The entry point: process 1 of its namespace."""
        return psutil.Process(self.process.pid).children()[0]

    def processes(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def find(self, *words: str) -> list[psutil.Process]:
        """Return the processes whose command line has all these words."""
        found = []
        for process in self.processes():
            try:
                line = process.cmdline()
            except psutil.NoSuchProcess:
                continue
            if all(any(word in part for part in line) for word in words):
                found.append(process)
        return found

    def terminate(self) -> None:
        self.main.send_signal(signal.SIGTERM)

    def vanish(self) -> None:
        """Kill everything at once, as when a machine breaks; its connections close."""
        self.process.kill()

    def wait(self, timeout_s: float = 60) -> int:
        return self.process.wait(timeout_s)

    @property
    def stdout(self) -> str:
        return self.printed.read_bytes().decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return self.said.read_text(encoding="utf-8", errors="replace")

    @property
    def failure(self) -> str | None:
        path = self.ml / "output" / "failure"
        return path.read_text(encoding="utf-8") if path.exists() else None
