"""What a node is looked at for: it travels to the node as one line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from .mounts import Mount

DISKS = {"disk": "/", "scratch": "/scratch"}
"""Check name to path."""


@dataclass(frozen=True)
class Wanted:
    """Of one node."""

    mounts: tuple[Mount, ...]
    gpus: int
    """How many its instance type has."""
    efa_interfaces: int
    """How many the cluster gives it."""
    disks: dict[str, str]
    runs_in: str
    """`image` or `environment`."""
    timeout_s: float
    """For each check; all run at once."""

    def to_line(self) -> str:
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Wanted:
        found = json.loads(line)
        mounts = tuple(Mount(**each) for each in found.pop("mounts"))
        return cls(mounts=mounts, **found)
