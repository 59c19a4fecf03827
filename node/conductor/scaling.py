"""The size of the worker group: as many as a job wants, and back to what it was."""

from __future__ import annotations

from typing import Any

from node import json_file
from node.aws_cli import AwsError, aws
from node.config import NodeConfig
from node.errors import NodeError

from . import jobs, places
from .state import read_object


class TooManyError(NodeError):
    """The group may not have so many workers."""


class Scaling:
    """Sets the worker group's desired size. Every method raises AwsError where AWS refuses."""

    def __init__(self, config: NodeConfig) -> None:
        self._config = config

    def grow(self, workers: int) -> int:
        """Have at least so many workers; return how many the group wants now.

        What it wanted before the first job is remembered on EFS: the last one restores it.

        Raises:
            TooManyError: More than the group may have.
        """
        wanted, most = self._size()
        remembered = places.sizing(self._config)
        if not remembered.exists():
            remembered.parent.mkdir(parents=True, exist_ok=True)
            json_file.write(remembered, {"desired": wanted})
        if workers > most:
            raise TooManyError(
                f"{self._config.worker_group}: {workers} workers are asked for, but it may have "
                f"{most} at most: deploy with -c cluster_max_workers={workers}"
            )
        if wanted < workers:
            self._set(workers)
        return max(wanted, workers)

    def restore(self, *, but: str, keep: bool) -> int | None:
        """Go back to the size of before the jobs; None where it stays as it is.

        Args:
            but: The job that ends: while another waits for its turn, its nodes stay.
            keep: The size of now is the one to stay.
        """
        remembered = places.sizing(self._config)
        before = read_object(remembered).get("desired")
        if any(state.name != but for state in jobs.line(self._config)):
            return None
        wanted, _ = self._size()
        if not keep and isinstance(before, int) and before < wanted:
            self._set(before)
            wanted = before
        else:
            before = None
        remembered.unlink(missing_ok=True)
        return before

    def activities(self, since: str) -> list[str]:
        """Return what the group says of its attempts that failed, newest first.

        Args:
            since: Only those that began later, ISO in UTC.
        """
        answer = self._ask(
            "describe-scaling-activities",
            *("--auto-scaling-group-name", self._config.worker_group, "--max-items", "50"),
        )
        found = []
        for activity in answer.get("Activities", []):
            failed = activity.get("StatusCode") in ("Failed", "Cancelled")
            if failed and str(activity.get("StartTime", "")) >= since[:19]:
                found.append(str(activity.get("StatusMessage") or activity.get("Cause")))
        return list(dict.fromkeys(found))

    def _size(self) -> tuple[int, int]:
        answer = self._ask(
            "describe-auto-scaling-groups",
            *("--auto-scaling-group-names", self._config.worker_group),
        )
        try:
            [group] = answer["AutoScalingGroups"]
            return int(group["DesiredCapacity"]), int(group["MaxSize"])
        except (KeyError, TypeError, ValueError) as error:
            raise AwsError(
                f"there is no auto-scaling group {self._config.worker_group} in "
                f"{self._config.region}"
            ) from error

    def _set(self, workers: int) -> None:
        self._ask(
            "set-desired-capacity",
            *("--auto-scaling-group-name", self._config.worker_group),
            *("--desired-capacity", str(workers), "--no-honor-cooldown"),
        )

    def _ask(self, *arguments: str) -> dict[str, Any]:
        answer = aws("autoscaling", *arguments, region=self._config.region)
        return answer if isinstance(answer, dict) else {}
