"""What instances say about their set-up: `SignalResource`, and waiting for it.

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_SignalResource.html
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

Signal = Literal["SUCCESS", "FAILURE"]

Key = tuple[str, str]
"""Stack id and logical id."""

LOOK_S = 0.5
"""Between two looks at which instances are awaited: a group launches some of them later."""


@dataclass(frozen=True)
class Outcome:
    """What came until all was said, or the time was over."""

    successes: int
    failures: int
    missing: int


class Signals:
    """The signals that have arrived, of all stacks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._received: dict[Key, dict[str, Signal]] = {}
        self._is_stopping = False

    def send(self, key: Key, unique_id: str, signal: Signal) -> None:
        with self._changed:
            self._received.setdefault(key, {})[unique_id] = signal
            self._changed.notify_all()

    def forget(self, key: Key) -> None:
        """Forget a resource's: an operation on it begins."""
        with self._changed:
            self._received.pop(key, None)

    def stop(self) -> None:
        """End all waiting: the server stops."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()

    def wait(
        self,
        key: Key,
        count: int,
        timeout_s: float,
        awaited: Callable[[], Collection[str]] | None = None,
        heard: Callable[[str, Signal], None] = lambda unique_id, signal: None,
    ) -> Outcome:
        """Wait for signals.

        Args:
            key: Of the resource.
            count: How many are expected.
            timeout_s: How long to wait.
            awaited: Returns the ids whose signals count; all do without it.
            heard: Is called for each, once.
        """
        deadline = time.monotonic() + timeout_s
        told: set[str] = set()
        while True:
            ids = None if awaited is None else set(awaited())
            with self._changed:
                received = dict(self._received.get(key, {}))
            counted = {id_: each for id_, each in received.items() if ids is None or id_ in ids}
            for id_ in counted.keys() - told:
                heard(id_, counted[id_])
            told |= counted.keys()
            left = deadline - time.monotonic()
            if len(counted) >= count or left <= 0 or self._is_stopping:
                signals = list(counted.values())
                failures = signals.count("FAILURE")
                successes = len(signals) - failures
                return Outcome(successes, failures, max(count - len(signals), 0))
            with self._changed:
                self._changed.wait(min(left, LOOK_S))


SIGNALS = Signals()
"""Of the server. Not kept: nothing waits for them after it has stopped."""
