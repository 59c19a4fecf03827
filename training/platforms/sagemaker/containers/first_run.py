"""Whether a job is new, or goes on where another has stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from training.errors import PreflightError


def is_first_run(body: Mapping[str, Any]) -> bool:
    """Tell it from the names: a job that goes on is called after the first one and the time.

    The log folder keeps the first one's name; see training/platforms/sagemaker/names.py.
    """
    return bool(body["TrainingJobName"].endswith(run_name(body)))


def run_name(body: Mapping[str, Any]) -> str:
    """Return what `--resume --name` takes: the part `<name>` of the log folder `log-<name>`."""
    return _log_place(body).rstrip("/").rpartition("/log-")[2]


def _log_place(body: Mapping[str, Any]) -> str:
    for channel in body.get("InputDataConfig", ()):
        if channel["ChannelName"] == "log":
            return str(channel["DataSource"]["FileSystemDataSource"]["DirectoryPath"])
    return str(body["CheckpointConfig"]["S3Uri"])


def require_right_start(body: Mapping[str, Any], place: str | Path, *, is_used: bool) -> None:
    """Check that a new job finds nothing of another, and that one that goes on finds something.

    Args:
        body: The request.
        place: Of logs and checkpoints, for the message.
        is_used: Whether there is something in it.

    Raises:
        PreflightError: It is the other way round.
    """
    is_first = is_first_run(body)
    if is_first and is_used:
        raise PreflightError(
            f"{place} is in use, by a job of this name. Give another --name, or add --resume to go "
            "on from its last checkpoint"
        )
    if not is_first and not is_used:
        raise PreflightError(
            f"{place}: there is nothing of a job of this name. Check --name, or leave --resume out "
            "to start it"
        )
