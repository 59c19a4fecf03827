"""Runs a copy by DataSync: once, to its end, and takes away what it made for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from training.aws.datasync import DataSync
from training.aws.errors import AwsRefused
from training.data.datasync.early_end import did_nothing, ended_early, how_to_end
from training.data.datasync.plan import Location, Transfer
from training.data.progress import format_bytes
from training.errors import AwsError, Interrupted, JobFailed
from training.platforms.watching import watching

FIRST_LOOK_S, LONGEST_PAUSE_S = 0.5, 5.0
"""Between two questions, longer each time."""

TELL_EVERY_S = 30.0
READY_S = 300.0
"""How long a new task may be CREATING."""

_ENDED = frozenset({"SUCCESS", "ERROR"})
_SIDES = ("SourceLocationArn", "DestinationLocationArn")


@dataclass(frozen=True)
class Running:
    """DataSync with a transfer.

    Attributes:
        datasync: AWS's.
        transfer: What it copies.
        tell: Takes a line for the user.
    """

    datasync: DataSync
    transfer: Transfer
    tell: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep

    def run(self) -> dict[str, Any]:
        """Copy, and return the execution's description.

        A task of the same name is the same copy: one that runs is followed, and no other started.

        Raises:
            JobFailed: DataSync failed; the message has its reason.
            AwsError: It refused, or cannot be reached; the message says what goes on.
            Interrupted: The user did not wait, or somebody took the task away.
        """
        name = self.transfer.name
        with ended_early("making DataSync's task; this command has started nothing"):
            task_arn = self._find_or_make()
        unsure = (
            f"whether DataSync's task {name} runs is not known; if it does, it goes on and costs. "
            f"The same command waits for it; end it: {how_to_end(task_arn)}"
        )
        with ended_early(f"starting; {unsure}", f"W{unsure[1:]}"):
            arn = self._execution(task_arn)
        with watching(f"DataSync's task {name}", follow="the same command", stop=how_to_end(arn)):
            execution = self._follow(arn)
        with ended_early(f"tidying up. {self._stays()}"):
            self._clear(task_arn)
        self._judge(execution)
        return execution

    def _find_or_make(self) -> str:
        name = self.transfer.name
        if found := self.datasync.task_named(name):
            self.tell(f"DataSync has task {name} already: goes on with it")
            return found
        made: dict[str, str] = {}
        try:
            made["SourceLocationArn"] = self._make(self.transfer.source)
            made["DestinationLocationArn"] = self._make(self.transfer.target)
            return self.datasync.create_task({**made, **self.transfer.task})
        except (AwsError, KeyboardInterrupt) as error:
            if len(made) == len(_SIDES) and not did_nothing(error):
                # The task may be there, with its locations: the same command finds it.
                raise
            self._forget(made)
            raise

    def _make(self, side: Location) -> str:
        return self.datasync.create_location(side.kind, side.request)

    def _forget(self, locations: Mapping[str, str]) -> None:
        """Delete locations without a task: nothing stays where nothing was begun."""
        for arn in locations.values():
            # Why there is no task is told; a location alone costs nothing.
            with suppress(AwsError):
                self.datasync.delete_location(arn)

    def _execution(self, task_arn: str) -> str:
        """Return the task's execution; start one where none runs."""
        name, waited_s = self.transfer.name, 0.0
        while (task := self.datasync.task(task_arn) or {}).get("Status") == "CREATING":
            if waited_s > READY_S:
                raise JobFailed(
                    f"DataSync's task {name} is not ready after 5 min; nothing is copied yet. The "
                    "same command looks again"
                )
            self.sleep(LONGEST_PAUSE_S)
            waited_s += LONGEST_PAUSE_S
        if running := task.get("CurrentTaskExecutionArn"):
            return str(running)
        if task.get("Status") == "UNAVAILABLE":
            # It would be found again, and fail again, for ever.
            self._clear(task_arn)
            raise JobFailed(
                f"DataSync's task {name} cannot run: "
                f"{task.get('ErrorDetail') or task.get('ErrorCode') or 'it does not say why'}. "
                "The same command makes another"
            )
        return self._start(task_arn)

    def _start(self, task_arn: str) -> str:
        try:
            return self.datasync.start(task_arn)
        except AwsRefused as error:
            if not did_nothing(error):
                raise
            # The same command elsewhere may have been quicker: a task runs once at a time.
            running = (self.datasync.task(task_arn) or {}).get("CurrentTaskExecutionArn")
            if running:
                return str(running)
            self._clear(task_arn)
            raise

    def _follow(self, arn: str) -> dict[str, Any]:
        told_at, said, pause_s = -TELL_EVERY_S, "", FIRST_LOOK_S
        while True:
            found = self.datasync.execution(arn)
            if found is None:
                raise Interrupted(
                    f"DataSync's task {self.transfer.name} is gone: the same command elsewhere "
                    "saw its end, or somebody has deleted it. The same command copies what is "
                    "left to copy"
                )
            status, now = _status(found), time.monotonic()
            if status != said or now - told_at > TELL_EVERY_S:
                self.tell(f"DataSync: {_progress(found)}")
                told_at, said = now, status
            # An end that AWS has named since then is one too.
            if status in _ENDED or "EndTime" in found:
                return found
            self.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 1.5)

    def _clear(self, task_arn: str) -> None:
        """Delete task and locations: a task keeps network interfaces in the VPC for as long as it
        is there (https://docs.aws.amazon.com/datasync/latest/userguide/required-network-interfaces.html).
        """
        try:
            task = self.datasync.task(task_arn) or {}
            self.datasync.delete_task(task_arn)
            for side in _SIDES:
                if side in task:
                    self.datasync.delete_location(task[side])
        except AwsError as error:
            self.tell(f"{self._stays()} ({error})")

    def _stays(self) -> str:
        return (
            f"DataSync's task {self.transfer.name} may stay, and keep network interfaces in the "
            "VPC: delete it in the console of DataSync"
        )

    def _judge(self, execution: Mapping[str, Any]) -> None:
        if _status(execution) == "SUCCESS":
            return
        result = execution.get("Result", {})
        said = filter(None, (result.get("ErrorCode"), result.get("ErrorDetail")))
        why = ": ".join(said) or f"it gives no reason (status {_status(execution) or 'unknown'})"
        report = self.transfer.task["TaskReportConfig"]["Destination"]["S3"]
        bucket = report["S3BucketArn"].rpartition(":")[2]
        raise JobFailed(
            f"DataSync's task {self.transfer.name} failed: {why}. Its "
            f"report: s3://{bucket}{report['Subdirectory']}. The same command copies the rest"
        )


def _status(found: Mapping[str, Any]) -> str:
    return str(found.get("Status", ""))


def _progress(found: Mapping[str, Any]) -> str:
    done, of = found.get("FilesTransferred", 0), found.get("EstimatedFilesToTransfer", 0)
    text = _status(found).lower() or "no status"
    if of:
        text += f", {done:,} of {of:,} files, {format_bytes(found.get('BytesTransferred', 0))}"
    return text
