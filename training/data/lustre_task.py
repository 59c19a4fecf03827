"""Runs a data repository task of FSx for Lustre: import, export or release, at FSx's own speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from training.aws.errors import AwsRefused, may_pass, translated
from training.data.lock import Tell
from training.errors import AwsError, Interrupted, JobFailed
from training.stop_signals import terminated_as_interrupted

if TYPE_CHECKING:
    from mypy_boto3_fsx import FSxClient

Kind = Literal[
    "IMPORT_METADATA_FROM_REPOSITORY", "EXPORT_TO_REPOSITORY", "RELEASE_DATA_FROM_FILESYSTEM"
]

BUSY_S = 3600.0
"""How long another task of the file system is waited for."""

SILENT_S = 600.0
"""How long FSx may fail to say how a task is: it runs all the same."""

STRANGE_S = 3600.0
"""How long a task may be in a state that is not known here."""

_BUSY = "DataRepositoryTaskExecuting"
_NOT_YET_KNOWN = "DataRepositoryTaskNotFound"
_UNDER_WAY = frozenset({"PENDING", "EXECUTING", "CANCELING"})
_ENDED = frozenset({"SUCCEEDED", "FAILED", "CANCELED"})
_TELL_EVERY_S = 30.0


@dataclass(frozen=True)
class Tasks:
    """The tasks of one file system.

    Attributes:
        client: FSx.
        file_system_id: `fs-…`.
        tell: Told how far a task is.
        poll_s: Between two questions.
    """

    client: FSxClient
    file_system_id: str
    tell: Tell
    poll_s: float = 2.0
    sleep: Callable[[float], None] = time.sleep

    def run(self, kind: Kind, path: str) -> None:
        """Run a task to its end.

        Args:
            kind: Which.
            path: s3://bucket/prefix for an import, else a path below the file system's root.

        Raises:
            JobFailed: It failed for some file, was cancelled, or another one runs for longer than
                `BUSY_S`.
            AwsError: AWS refused or could not be reached.
            Interrupted: Ctrl-C or SIGTERM ended the wait; the task goes on.
        """
        task_id = self._create(kind, path)
        name = f"{self.file_system_id}: task {task_id} ({kind})"
        goes_on = (
            f"{name} goes on in FSx. Run the same command again, which waits for it, or end it: "
            f"aws fsx cancel-data-repository-task --task-id {task_id}"
        )
        # Whoever kills this process, or this machine, has the task's id.
        self.tell(f"{name} has begun")
        try:
            with terminated_as_interrupted():
                task = self._follow(name, task_id)
        except KeyboardInterrupt as error:
            raise Interrupted(goes_on) from error
        except AwsError:
            self.tell(goes_on)
            raise
        _judge(f"{name} of {path}", task)

    def _create(self, kind: Kind, path: str) -> str:
        request: Any = {
            "FileSystemId": self.file_system_id,
            "Type": kind,
            "Paths": [path],
            "Report": {"Enabled": False},
        }
        if kind == "RELEASE_DATA_FROM_FILESYSTEM":
            request["ReleaseConfiguration"] = {
                "DurationSinceLastAccess": {"Unit": "DAYS", "Value": 0}
            }
        give_up_at = time.monotonic() + BUSY_S
        while True:
            try:
                with translated():
                    answer: Any = self.client.create_data_repository_task(**request)
            except AwsRefused as error:
                if error.code != _BUSY:
                    raise
                if time.monotonic() > give_up_at:
                    raise JobFailed(
                        f"{self.file_system_id}: another task of the file system has not ended for "
                        f"{BUSY_S / 60:.0f} minutes ({error}). aws fsx "
                        "describe-data-repository-tasks says which: wait for it, run again"
                    ) from error
                self.tell(f"{self.file_system_id}: waiting for another task of the file system")
                self.sleep(15 * self.poll_s)
                continue
            if task_id := answer.get("DataRepositoryTask", {}).get("TaskId"):
                return str(task_id)
            raise AwsError("CreateDataRepositoryTask: the answer names no task. Run again")

    def _follow(self, name: str, task_id: str) -> Any:
        """Return the description of a task that has ended."""
        tell_at = time.monotonic() + _TELL_EVERY_S
        known_at = time.monotonic()
        while True:
            task = self._look(name, task_id)
            now = time.monotonic()
            state = task.get("Lifecycle")
            if state in _ENDED or "EndTime" in task:
                return task
            if state in _UNDER_WAY:
                known_at = now
            elif now - known_at > STRANGE_S:
                raise JobFailed(
                    f"{name}: has been {state} for {STRANGE_S / 60:.0f} minutes, and what that is "
                    "is not known here. See aws fsx describe-data-repository-tasks"
                )
            if now >= tell_at:
                tell_at = now + _TELL_EVERY_S
                self.tell(f"{name}: {_describe(task)}")
            self.sleep(self.poll_s)

    def _look(self, name: str, task_id: str) -> Any:
        """Return a task's description; what passes by itself is waited for.

        A task is not known everywhere as soon as it is made.
        """
        give_up_at = time.monotonic() + SILENT_S
        tell_at = time.monotonic() + _TELL_EVERY_S
        while True:
            try:
                with translated():
                    answer = self.client.describe_data_repository_tasks(TaskIds=[task_id])
                if found := answer.get("DataRepositoryTasks"):
                    return found[0]
                problem = AwsError(f"DescribeDataRepositoryTasks: no answer for task {task_id}")
            except AwsError as error:
                if not _passes(error):
                    raise
                problem = error
            now = time.monotonic()
            if now > give_up_at:
                raise problem
            if now >= tell_at:
                tell_at = now + _TELL_EVERY_S
                self.tell(f"{name}: FSx does not say how it is: {problem}")
            self.sleep(self.poll_s)


def _passes(error: AwsError) -> bool:
    is_new = isinstance(error, AwsRefused) and error.code == _NOT_YET_KNOWN
    return is_new or may_pass(error)


def _judge(name: str, task: Any) -> None:
    """Raise JobFailed where a task has not done all."""
    if task.get("Lifecycle") == "SUCCEEDED" and not task.get("Status", {}).get("FailedCount"):
        return
    details = task.get("FailureDetails", {}).get("Message")
    if task.get("Lifecycle") == "CANCELED":
        details = details or "somebody ended it: run again to go on"
    raise JobFailed(f"{name}: {_describe(task)}" + (f"; {details}" if details else ""))


def _describe(task: Any) -> str:
    status, state = task.get("Status", {}), str(task.get("Lifecycle", "in no state")).lower()
    counts = ", ".join(
        f"{status[f'{word}Count']:,} {word.lower()}"
        for word in ("Total", "Succeeded", "Failed")
        if f"{word}Count" in status
    )
    return f"{state} ({counts})" if counts else state
