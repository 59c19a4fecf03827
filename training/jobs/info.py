"""A job as the commands about jobs show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from training.prices.usage import NotKnown, Usage

Status = Literal[
    "queued", "waiting", "running", "stopping", "completed", "failed", "checkpointed", "stopped"
]
"""`checkpointed`: stopped, and can go on; SageMaker does not tell that from `stopped`."""

ENDED: frozenset[Status] = frozenset({"completed", "failed", "checkpointed", "stopped"})
"""After which nothing changes any more."""


@dataclass(frozen=True, kw_only=True)
class JobInfo:
    """A job as these commands show it."""

    name: str
    status: Status
    detail: str
    """The platform's own word for it, such as `Downloading`."""
    message: str | None
    """What the platform says of that, or why the job failed."""
    machines: str
    """Such as `4 x ml.p3.16xlarge`."""
    created: datetime | None
    ended: datetime | None
    billing: str | None
    """What is paid for, in words."""
    usage: tuple[Usage, ...] | NotKnown
    model: str | None
    """Where the model is, once there is one."""
    log: str | None
    """Its log folder, where the report is: s3://…, or <file system>:<path>."""

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; times as ISO 8601 in UTC. What it has used is left out."""
        return {
            name: as_text(value) if isinstance(value, datetime) else value
            for name, value in vars(self).items()
            if name != "usage"
        }


def as_text(time: datetime) -> str:
    """Return a time in UTC, to the second, as ISO 8601."""
    return time.astimezone(UTC).isoformat(timespec="seconds")
