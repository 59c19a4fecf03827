"""Runs this package's programs on other nodes, over the cluster's own SSH."""

from __future__ import annotations

import shlex
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from .. import paths
from .command import kill_group


@dataclass(frozen=True)
class Ssh:
    """How the nodes are reached."""

    config: str = str(paths.SSH / "config")
    """Has port, key and host keys: ssh_config(5)."""
    program: str = "ssh"

    def command(self, address: str, remote: Sequence[str]) -> list[str]:
        """Return the command line of a program there; the far shell sees each word whole."""
        return [self.program, "-F", self.config, address, shlex.join(remote)]


class Session:
    """A program on a node, and lines to and from it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin: IO[str] = process.stdin
        self._stdout: IO[str] = process.stdout
        self._errors: list[str] = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def send(self, line: str) -> None:
        """Send a line; one to a program that has ended is lost."""
        try:
            self._stdin.write(line)
            self._stdin.flush()
        except OSError:
            pass

    def receive(self) -> str | None:
        """Wait for a line; None where there are no more."""
        return self._stdout.readline() or None

    def cut_off(self) -> None:
        """Kill it: whoever waits for a line of it gets None."""
        if self._process.poll() is None:
            kill_group(self._process)

    def what_it_said(self) -> str:
        """Return the end of its stderr, once it has ended or been cut off."""
        self._reader.join(1)
        return " ".join("".join(self._errors[-5:]).split())[-300:]

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line)


@contextmanager
def session(command: Sequence[str], *, timeout_s: float) -> Iterator[Session]:
    """Run a program for a while; after that time, and in the end, it is killed.

    Whoever waits for a line of it then gets None.
    """
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    over = threading.Timer(timeout_s, kill_group, [process])
    over.daemon = True
    over.start()
    try:
        yield Session(process)
    finally:
        over.cancel()
        if process.poll() is None:
            kill_group(process)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
