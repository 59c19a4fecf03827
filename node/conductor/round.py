"""A round: one start of a job on some hosts, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from node.registrations import Registration

from .nodes import Nodes
from .order import Order
from .output import Output
from .places import RunFolder
from .request import Request
from .session import Session

FAILED = 1
STOPPED_WITH_CHECKPOINT = 75
STOPPED = 143
"""Stopped before there was anything to go on from."""


@dataclass(frozen=True)
class Result:
    """How a round ended."""

    code: int
    reason: str
    lost: tuple[str, ...] = ()
    """Addresses of hosts that went away in it."""
    is_final: bool = False
    """Another start would not help."""


@dataclass(frozen=True)
class Setting:
    """What a round is of."""

    request: Request
    run: RunFolder
    number: int
    head: Registration
    """This machine."""
    hosts: tuple[Registration, ...]
    """Those that it begins with, this one among them if it takes part."""
    nodes: Nodes
    output: Output
    patience_s: float = 60
    """Once a part has failed or ended: time for the others to end by themselves."""

    def order(self, command: str, host: Registration, **changes: Any) -> Order:
        """Return what a host is to run."""
        request = self.request
        return Order(
            job=request.name,
            round=self.number,
            command=command,
            address=host.address,
            **{
                "hosts": [host.address],
                "algorithm": request.algorithm,
                "distribution": request.distribution,
                "processes_per_host": request.processes_per_host,
                "image": request.image,
                "hyperparameters": request.hyperparameters,
                "environment": request.environment,
                "data": request.data,
                "log": request.log,
                "network_interface": request.network_interface,
                "instance_type": host.instance_type,
                "elastic": None,
                "shared": [],
                **changes,
            },
        )

    def session(self, order: Order, *, is_head: bool) -> Session:
        """Start a host's part; its lines go to the job's output, the head's as they are."""
        prefix = "" if is_head else f"[{order.address}] "

        def take(line: str) -> None:
            self.output.line(prefix + line)

        return Session(order, order.address == self.head.address, take).start()


class Round(Protocol):
    """A running round; `look` is called again and again."""

    @property
    def is_waiting(self) -> bool:
        """Whether nobody can train: hosts are made ready, or too few are left."""

    def look(self) -> Result | None:
        """Do what is to do; return how it ended, None while it runs."""

    def stop(self) -> None:
        """Have it save and stop."""

    def kill(self) -> None:
        """End it at once."""

    def abandon(self) -> None:
        """Let go of all hosts: their parts end when they see that nobody is here."""

    def hosts(self) -> list[dict[str, Any]]:
        """Return the hosts as `status` shows them."""


def described(host: Registration, state: str, slots: int) -> dict[str, Any]:
    return {
        "address": host.address,
        "instance_id": host.instance_id,
        "slots": slots,
        "state": state,
    }


def exit_text(code: int) -> str:
    return f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code}"


def all_over(sessions: Iterable[Session]) -> bool:
    return all(session.is_over for session in sessions)
