"""What a head does for one job, and what it needs for that."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass

from node.config import NodeConfig

from .lease import Lease
from .output import Output
from .places import RunFolder
from .shipping import Shipping
from .state import State, write_state
from .telling import Teller


class Leaving(Exception):
    """This machine shuts down: the job goes on when it is back, or on the next head."""


@dataclass(frozen=True)
class Duty:
    """One job, and the head that conducts it."""

    config: NodeConfig
    instance_id: str
    run: RunFolder
    state: State
    """As it was read in the job's folder; it is written there at each change."""
    lease: Lease
    """Of the job; the head holds it."""
    leaving: threading.Event
    """Set when this machine shuts down."""
    output: Output
    """Of the job."""
    teller: Teller
    """Of whoever waits for the job's start and end."""


class Conducting(ABC):
    """What conducts a job, of whatever kind."""

    def __init__(self, duty: Duty) -> None:
        self._config = duty.config
        self._instance_id = duty.instance_id
        self._run = duty.run
        self._state = duty.state
        self._lease = duty.lease
        self._leaving = duty.leaving
        self._output = duty.output
        self._teller = duty.teller

    @abstractmethod
    def run(self) -> None:
        """Bring the job to its end, and write it down.

        Raises:
            Leaving: This machine shuts down before.
            LeaseLost: Another head has the job now.
            OSError: The file system does not answer: to be tried again.
        """

    def say(self, text: str) -> None:
        """Put a line of the conductor's own into the job's output."""
        self._output.say(text)

    def _shipping(self) -> Shipping:
        """Begin to send the output to CloudWatch Logs."""
        return Shipping(
            source=self._run.output,
            mark=self._run.shipped,
            group=self._config.log_group,
            stream=f"{self._state.name}/output",
            region=self._config.region,
            say=self.say,
        )

    def _change(self, name: str, reason: str | None) -> None:
        self._lease.renew()
        self._state.state, self._state.reason = name, reason
        write_state(self._run, self._state)
        self._teller.notice(self._state)
