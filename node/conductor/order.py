"""What the conductor tells a node to run: the first line that `host-run` reads, a JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from node.errors import NodeError

COMMANDS = ("train", "elastic", "host")
EVENT = "\x1emask-rcnn "
"""How a line begins in which `host-run` itself tells something, as a JSON object with `kind`:

    starting            the container starts now
    ended               `code`, and `failure`, why, where the container said so
    failed              `reason`: nothing was started
"""


@dataclass(frozen=True)
class Order:
    """One host's part in one round of a job."""

    job: str
    round: int
    command: str
    """Of the entry point: train, elastic or host."""
    address: str
    """Of this host, as the others know it."""
    hosts: list[str]
    """Of the round, the entry point's head first; only this one where the command is no `train`."""
    algorithm: str
    distribution: str
    processes_per_host: int
    image: str | None
    hyperparameters: Mapping[str, str]
    environment: Mapping[str, str]
    data: Mapping[str, str]
    log: str
    network_interface: str | None
    instance_type: str
    elastic: Mapping[str, Any] | None
    """What elastic.json holds."""
    shared: list[str]
    """Folders of this machine that the container sees too."""

    @property
    def mark(self) -> str:
        """What tells the processes of this round on this host from all others."""
        return f"{self.job}/{self.round}/{self.address}"

    def to_line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def read_order(line: bytes) -> Order:
    """Raises: NodeError: It is none."""
    try:
        document = json.loads(line)
        order = Order(**{field.name: document[field.name] for field in fields(Order)})
    except (ValueError, KeyError, TypeError) as error:
        raise NodeError(f"host-run: what came on stdin is no order ({error!r})") from error
    if order.command not in COMMANDS:
        raise NodeError(f"host-run: {order.command}: no such command")
    return order
