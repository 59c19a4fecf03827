"""Runs the containers of a job side by side to their end: follows, stops, ends all with one."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from training import stop_signals
from training.platforms.sagemaker.containers.cleaning import GRACE_S
from training.platforms.sagemaker.containers.command import Setting
from training.supervise import Stop

PEER_GRACE_S = 30
"""A container has failed: how long the others may take to end by themselves, as our entry point
makes them do, before they are stopped."""

LAST_LINES = 20
_POLL_S = 0.1
_OF_THE_ENGINE = "failed to connect to syslog: "
"""Begins a line that is no container's: podman's name server (aardvark-dns) writes it into what
`podman run` prints, on a machine without a system log."""

_STOP_AGAIN_S = 2
"""A container that was asked to stop while it was being made has not heard it."""


@dataclass
class FleetEnd:
    """How the containers ended."""

    codes: dict[str, int] = field(default_factory=dict)
    """Host -> exit code, as the engine's command gives it: 137 for SIGKILL."""
    first_failed: str | None = None
    stopped: Stop | None = None
    last: dict[str, deque[str]] = field(default_factory=dict)
    """Host -> its last lines."""


class Fleet:
    """The containers of one job.

    Args:
        setting: What they have in common.
        on_line: Takes the host and each line of its container.
    """

    def __init__(self, setting: Setting, on_line: Callable[[str, str], None]) -> None:
        self._setting = setting
        self._on_line = on_line
        self._lines: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._readers: list[threading.Thread] = []
        self._stops: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
        self._is_stopping = False
        self._peers_until = float("inf")
        self._end = FleetEnd()

    def run(self, commands: Mapping[str, Sequence[str]], *, max_run_s: float) -> FleetEnd:
        """Run all of them; SIGINT and SIGTERM to this process stop them, a second one at once.

        Args:
            commands: Host -> the engine's command that runs its container.
            max_run_s: They are stopped after it.
        """
        with stop_signals.collected() as asked:
            deadline = time.monotonic() + max_run_s
            for host, argv in commands.items():
                self._start(host, argv)
            try:
                while self._running:
                    self._pass_on(timeout_s=_POLL_S)
                    self._collect()
                    self._decide(len(asked), time.monotonic() > deadline)
            finally:
                self._kill()
        for reader in self._readers:
            reader.join(timeout=5)
        self._pass_on(timeout_s=0.01)
        return self._end

    def _start(self, host: str, argv: Sequence[str]) -> None:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # a Ctrl-C is ours to pass on
        )
        self._running[host] = process
        self._end.last[host] = deque(maxlen=LAST_LINES)
        reader = threading.Thread(target=self._read, args=(host, process), daemon=True)
        self._readers.append(reader)
        reader.start()

    def _read(self, host: str, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(_OF_THE_ENGINE) and self._setting.engine.name == "podman":
                continue
            self._lines.put((host, line.rstrip("\n")))

    def _pass_on(self, *, timeout_s: float) -> None:
        try:
            host, line = self._lines.get(timeout=timeout_s)
            while True:
                self._end.last[host].append(line)
                self._on_line(host, line)
                host, line = self._lines.get_nowait()
        except queue.Empty:
            return

    def _collect(self) -> None:
        for host, process in list(self._running.items()):
            code = process.poll()
            if code is None:
                continue
            del self._running[host]
            self._end.codes[host] = code
            if code and self._end.first_failed is None and not self._is_stopping:
                self._end.first_failed = host
                self._peers_until = time.monotonic() + PEER_GRACE_S

    def _decide(self, signals: int, is_over: bool) -> None:
        if signals > 1:
            self._end.stopped = self._end.stopped or Stop.SIGNAL
            self._kill()
        elif not self._is_stopping and (signals or is_over):
            self._end.stopped = Stop.SIGNAL if signals else Stop.TIME_LIMIT
            self._is_stopping = True
        elif time.monotonic() > self._peers_until:
            self._is_stopping = True
        if self._is_stopping:
            self._stop()

    def _stop(self) -> None:
        """Ask each container to stop: SIGTERM, and SIGKILL after SageMaker's time."""
        for host in self._running:
            if host in self._stops:
                process, started = self._stops[host]
                if process.poll() is None or time.monotonic() < started + _STOP_AGAIN_S:
                    continue
            words = ("stop", "--time", str(GRACE_S), self._setting.container(host))
            self._stops[host] = (self._quietly(*words), time.monotonic())

    def _kill(self) -> None:
        """End what runs still, at once."""
        if not self._running:
            return
        self._quietly("kill", *map(self._setting.container, self._running)).wait()
        for host, process in list(self._running.items()):
            try:
                self._end.codes[host] = process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                self._end.codes[host] = process.wait()
            del self._running[host]

    def _quietly(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._setting.engine.argv(*words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
