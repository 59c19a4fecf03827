"""How a job is doing, from what the head node's program answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast, get_args

from training.errors import AwsError
from training.jobs.info import ENDED, Status


@dataclass(frozen=True, kw_only=True)
class JobState:
    """A job at one moment."""

    name: str
    status: Status
    reason: str | None
    """Why it waits, or how it ended."""
    exit_code: int | None
    created: datetime | None
    started: datetime | None
    """When its ranks were started for the first time."""
    ended: datetime | None
    hosts: int
    """Nodes that take part, or did; 0 where that is not told, as in a list of jobs."""
    restarts: int
    step: int | None
    """Steps done."""
    run: str
    """Its folder, as the nodes have it."""
    algorithm: str

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def run_name(self) -> str:
        """What `--resume --name` takes."""
        return self.name


def read_state(answer: Mapping[str, Any]) -> JobState:
    """Return what an answer says of a job.

    Raises:
        AwsError: It is of another form: the nodes run another version of this program.
    """
    try:
        status = str(answer["state"])
        if status not in get_args(Status):
            raise ValueError(f"state {status!r}")
        return JobState(
            name=str(answer["name"]),
            status=cast(Status, status),
            reason=_text(answer.get("reason")),
            exit_code=_number(answer.get("exit_code")),
            created=_time(answer.get("created")),
            started=_time(answer.get("started")),
            ended=_time(answer.get("updated")) if status in ENDED else None,
            hosts=len(answer.get("hosts") or ()) + int(answer.get("hosts_left_out") or 0),
            restarts=int(answer.get("restarts") or 0),
            step=_number(answer.get("step")),
            run=str(answer["run"]),
            algorithm=str(answer.get("algorithm") or "?"),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AwsError(
            f"the head node's answer about a job is of a form that is not known ({error!r}): its "
            "programs are of another version. Deploy this one's: cdk deploy ClusterStack"
        ) from error


def _text(value: Any) -> str | None:
    return str(value) if value else None


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _time(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
