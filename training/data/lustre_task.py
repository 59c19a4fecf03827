"""Runs a data repository task of FSx for Lustre: import, export or release, at FSx's own speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from training.aws.errors import AwsRefused, translated
from training.data.lock import Tell
from training.errors import JobFailed

if TYPE_CHECKING:
    from mypy_boto3_fsx import FSxClient

Kind = Literal[
    "IMPORT_METADATA_FROM_REPOSITORY", "EXPORT_TO_REPOSITORY", "RELEASE_DATA_FROM_FILESYSTEM"
]

BUSY_S = 3600.0
"""How long another task of the file system is waited for."""

_BUSY = "DataRepositoryTaskExecuting"
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
        """Run a task to its end. Ctrl-C leaves it running.

        Args:
            kind: Which.
            path: s3://bucket/prefix for an import, else a path below the file system's root.

        Raises:
            JobFailed: It failed, was cancelled, or another one runs for longer than `BUSY_S`.
            AwsError: AWS refused or could not be reached.
        """
        task_id = self._create(kind, path)
        tell_at = time.monotonic() + _TELL_EVERY_S
        while True:
            with translated():
                (task,) = self.client.describe_data_repository_tasks(TaskIds=[task_id])[
                    "DataRepositoryTasks"
                ]
            if task["Lifecycle"] in _ENDED:
                break
            if time.monotonic() >= tell_at:
                tell_at = time.monotonic() + _TELL_EVERY_S
                self.tell(f"{self._name(kind, task_id)}: {_describe(task)}")
            self.sleep(self.poll_s)
        if task["Lifecycle"] != "SUCCEEDED":
            details = task.get("FailureDetails", {}).get("Message")
            raise JobFailed(
                f"{self._name(kind, task_id)} of {path}: {_describe(task)}"
                + (f"; {details}" if details else "")
            )

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
                    answer = self.client.create_data_repository_task(**request)
                return answer["DataRepositoryTask"]["TaskId"]
            except AwsRefused as error:
                if error.code != _BUSY or time.monotonic() > give_up_at:
                    raise
            self.tell(f"{self.file_system_id}: waiting for another task of the file system")
            self.sleep(15 * self.poll_s)

    def _name(self, kind: Kind, task_id: str) -> str:
        return f"{self.file_system_id}: task {task_id} ({kind})"


def _describe(task: Any) -> str:
    status = task.get("Status", {})
    counts = ", ".join(
        f"{status[f'{word}Count']:,} {word.lower()}"
        for word in ("Total", "Succeeded", "Failed")
        if f"{word}Count" in status
    )
    return f"{task['Lifecycle'].lower()} ({counts})" if counts else task["Lifecycle"].lower()
