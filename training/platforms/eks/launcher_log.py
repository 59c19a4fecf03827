"""Reads what a job's launchers print: the lines of all ranks, from one pod after another."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from training.errors import TrainingError
from training.kubernetes.client import Kubernetes, LogReader
from training.platforms.eks.observed import Pod

CONTAINER = "launcher"

_MOST_WAITING = 10_000
"""Lines that were read and not shown yet; a reader that is ahead waits."""

_MOST_TRIES = 3
"""To read what a pod that has ended wrote last."""


class LauncherLog:
    """Where the log of one pod was read up to.

    A broken connection loses no line and gives none twice: each line has the time at which it was
    written, to the nanosecond, and lines of one time are counted. The server itself goes back to
    the beginning of a second only.
    """

    def __init__(self, kubernetes: Kubernetes, pod: str, show: Callable[[str], None]) -> None:
        self._kubernetes = kubernetes
        self._pod = pod
        self._show = show
        self._time = ""
        self._of_time = 0
        """Lines of that time that were shown."""
        self._log: LogReader | None = None

    def read(self, *, follow: bool) -> None:
        """Show the lines that came since the last time, or until the container ends.

        Raises:
            KubernetesError: They cannot be read, or the connection broke.
        """
        begun, to_skip = self._time, self._of_time
        since = begun or None
        with self._kubernetes.log(
            self._pod, CONTAINER, follow=follow, since_time=since, timestamps=True
        ) as log:
            self._log = log
            for line in log:
                time, _, text = line.partition(" ")
                if time < begun:
                    continue
                if time == begun and to_skip:
                    to_skip -= 1
                    continue
                self._of_time = self._of_time + 1 if time == self._time else 1
                self._time = time
                self._show(text.removesuffix("\r"))

    def end(self) -> None:
        """End a reading in another thread."""
        if self._log is not None:
            self._log.end()


class LauncherReader:
    """Follows the launchers of a job in the background; lines come out where they are asked for."""

    def __init__(self, kubernetes: Kubernetes) -> None:
        self._kubernetes = kubernetes
        self._lines: queue.Queue[str] = queue.Queue(_MOST_WAITING)
        self._logs: dict[str, LauncherLog] = {}
        self._tries: dict[str, int] = {}
        """How often the log of a pod was read that has ended."""
        self._whole: set[str] = set()
        """Pods of whose logs there is no more."""
        self._thread: threading.Thread | None = None

    def follow(self, launchers: Sequence[Pod]) -> bool:
        """Go on with the first pod that has lines left; return whether there is one.

        A connection that ended while its pod runs is made again so.
        """
        if self.is_reading:
            return True
        for pod in launchers:
            if pod.name not in self._whole and pod.phase != "Pending":
                self._start(pod)
                return True
        return False

    def take(self, *, wait_s: float) -> list[str]:
        """Return the lines that have come; wait for the first one."""
        found: list[str] = []
        with suppress(queue.Empty):
            found.append(self._lines.get(timeout=wait_s))
            while True:
                found.append(self._lines.get_nowait())
        return found

    def end(self) -> None:
        """Read no further."""
        for log in self._logs.values():
            log.end()

    @property
    def is_reading(self) -> bool:
        """Whether there may be more lines of the pod that is read just now."""
        return self._thread is not None and self._thread.is_alive()

    def _start(self, pod: Pod) -> None:
        log = self._logs.setdefault(
            pod.name, LauncherLog(self._kubernetes, pod.name, self._lines.put)
        )
        self._thread = threading.Thread(target=self._read, args=(log, pod), daemon=True)
        self._thread.start()

    def _read(self, log: LauncherLog, pod: Pod) -> None:
        is_last = not pod.is_active
        self._tries[pod.name] = self._tries.get(pod.name, 0) + is_last
        try:
            log.read(follow=True)
        except TrainingError:
            # What went wrong shows in the next look at the job, with the reason.
            is_last &= self._tries[pod.name] >= _MOST_TRIES
        if is_last:
            self._whole.add(pod.name)
