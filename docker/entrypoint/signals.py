"""Requests to stop: SIGTERM from SageMaker, Docker or Kubernetes, SIGINT from a terminal."""

import signal
from typing import Any, List


class StopSignals:
    """Counts them. As process 1 of a container there is no default that would act on them."""

    def __init__(self) -> None:
        self._received: List[int] = []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._remember)

    @property
    def count(self) -> int:
        return len(self._received)

    def _remember(self, number: int, _frame: Any) -> None:
        # Nothing but this: the handler may interrupt the main thread anywhere.
        self._received.append(number)
