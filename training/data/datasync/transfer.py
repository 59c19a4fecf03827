"""Runs a copy by DataSync: once, to its end, and takes away what it made for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from training.aws.datasync import DataSync
from training.aws.errors import AwsRefused
from training.data.datasync.plan import Location, Transfer
from training.data.progress import format_bytes
from training.errors import AwsError, Interrupted, JobFailed

FIRST_LOOK_S, LONGEST_PAUSE_S = 0.5, 5.0
"""Between two questions, longer each time."""

TELL_EVERY_S = 30.0
READY_S = 300.0
"""How long a new task may be CREATING."""

_ENDED = frozenset({"SUCCESS", "ERROR"})


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
            AwsError: It refused, or cannot be reached; the same command goes on with it.
            Interrupted: The user did not wait; it goes on.
        """
        try:
            task_arn = self._find_or_make()
            execution = self._follow(self._execution(task_arn))
        except KeyboardInterrupt as error:
            raise Interrupted(
                f"waiting for DataSync; its task {self.transfer.name} goes on. The same command "
                "waits for it again; end it in the console of DataSync"
            ) from error
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
        except AwsRefused:
            # Nothing stays where nothing was begun.
            for arn in made.values():
                self.datasync.delete_location(arn)
            raise

    def _make(self, side: Location) -> str:
        return self.datasync.create_location(side.kind, side.request)

    def _execution(self, task_arn: str) -> str:
        """Return the task's execution; start one where none runs."""
        waited_s = 0.0
        while (task := self.datasync.task(task_arn)) is not None and task["Status"] == "CREATING":
            if waited_s > READY_S:
                raise JobFailed(f"DataSync's task {self.transfer.name} is not ready after 5 min")
            self.sleep(LONGEST_PAUSE_S)
            waited_s += LONGEST_PAUSE_S
        running = (task or {}).get("CurrentTaskExecutionArn")
        if running:
            return str(running)
        if task is not None and task["Status"] == "UNAVAILABLE":
            raise JobFailed(
                f"DataSync's task {self.transfer.name} cannot run: "
                f"{task.get('ErrorDetail') or task.get('ErrorCode') or 'it does not say why'}"
            )
        return self.datasync.start(task_arn)

    def _follow(self, arn: str) -> dict[str, Any]:
        told_at, said, pause_s = -TELL_EVERY_S, "", FIRST_LOOK_S
        while True:
            found = self.datasync.execution(arn)
            text = _progress(found)
            now = time.monotonic()
            if found["Status"] != said or now - told_at > TELL_EVERY_S:
                self.tell(f"DataSync: {text}")
                told_at, said = now, found["Status"]
            if found["Status"] in _ENDED:
                return found
            self.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 1.5)

    def _clear(self, task_arn: str) -> None:
        """Delete task and locations: a task keeps network interfaces in the VPC for as long as it
        is there (https://docs.aws.amazon.com/datasync/latest/userguide/required-network-interfaces.html).
        """
        task = self.datasync.task(task_arn)
        try:
            self.datasync.delete_task(task_arn)
            for key in ("SourceLocationArn", "DestinationLocationArn"):
                if task is not None:
                    self.datasync.delete_location(task[key])
        except AwsError as error:
            self.tell(
                f"DataSync's task {self.transfer.name} stays, and keeps network interfaces in the "
                f"VPC: {error}. Delete it in the console of DataSync"
            )

    def _judge(self, execution: Mapping[str, Any]) -> None:
        if execution["Status"] == "SUCCESS":
            return
        result = execution.get("Result", {})
        why = ": ".join(filter(None, (result.get("ErrorCode"), result.get("ErrorDetail"))))
        report = self.transfer.task["TaskReportConfig"]["Destination"]["S3"]
        bucket = report["S3BucketArn"].rpartition(":")[2]
        raise JobFailed(
            f"DataSync's task {self.transfer.name} failed: {why or 'it gives no reason'}. Its "
            f"report: s3://{bucket}{report['Subdirectory']}. The same command copies the rest"
        )


def _progress(found: Mapping[str, Any]) -> str:
    done, of = found.get("FilesTransferred", 0), found.get("EstimatedFilesToTransfer", 0)
    text = str(found["Status"]).lower()
    if of:
        text += f", {done:,} of {of:,} files, {format_bytes(found.get('BytesTransferred', 0))}"
    return text
