"""Data repository tasks: FSx's imports and exports on request."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

from localaws.fsx.repository import Repository

IMPORT = "IMPORT_METADATA_FROM_REPOSITORY"
EXPORT = "EXPORT_TO_REPOSITORY"
ENDED = ("SUCCEEDED", "FAILED", "CANCELED")


class Task:
    """One import or export, in a thread of its own."""

    def __init__(
        self, kind: str, file_system_id: str, paths: list[str], arn_prefix: str, report: Any
    ) -> None:
        self.task_id = f"task-{uuid4().hex[:17]}"
        self.kind = kind
        self.file_system_id = file_system_id
        self.paths = paths
        self.report = report
        self.arn = f"{arn_prefix}:task/{self.task_id}"
        self.lifecycle = "PENDING"
        self.creation_time = time.time()
        self.end_time: float | None = None
        self.succeeded = 0
        self.failed = 0

    def start(self, repositories: list[Repository]) -> None:
        self.lifecycle = "EXECUTING"
        threading.Thread(target=self._run, args=(repositories,), daemon=True).start()

    def cancel(self) -> None:
        self.lifecycle = "CANCELED"

    def _run(self, repositories: list[Repository]) -> None:
        for name, step in self._steps(repositories):
            if self.lifecycle == "CANCELED":
                break
            try:
                step()
                self.succeeded += 1
            except (OSError, ValueError) as error:
                # FSx goes on with the others too, and lists the failed ones in its report.
                sys.stderr.write(f"{self.task_id}: {name}: {error}\n")
                self.failed += 1
        self.end_time = time.time()
        if self.lifecycle != "CANCELED":
            self.lifecycle = "FAILED" if self.failed else "SUCCEEDED"

    def _steps(self, repositories: list[Repository]) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the key of each file, and what to do with it."""
        for repository in repositories:
            if self.kind == EXPORT:
                for key, path in repository.files():
                    if self._covers(repository, key):
                        yield key, partial(repository.export_file, key, path)
            else:
                for key, value in repository.objects():
                    if self._covers(repository, key):
                        yield key, partial(repository.import_object, key, value)

    def _covers(self, repository: Repository, key: str) -> bool:
        """Return whether the task's paths, below the mount, include a file; none means all."""
        name = key.removeprefix(repository.prefix)
        file = PurePosixPath("/") / repository.path.strip("/") / name.lstrip("/")
        return not self.paths or any(
            file.is_relative_to(PurePosixPath("/") / path.strip("/")) for path in self.paths
        )

    def to_dict(self) -> dict[str, Any]:
        result = {
            "TaskId": self.task_id,
            "Lifecycle": self.lifecycle,
            "Type": self.kind,
            "CreationTime": self.creation_time,
            "StartTime": self.creation_time,
            "EndTime": self.end_time,
            "ResourceARN": self.arn,
            "FileSystemId": self.file_system_id,
            "Paths": self.paths,
            "Report": self.report,
            "Status": {
                "TotalCount": self.succeeded + self.failed,
                "SucceededCount": self.succeeded,
                "FailedCount": self.failed,
                "LastUpdatedTime": self.end_time or time.time(),
            },
        }
        if self.lifecycle == "FAILED":
            result["FailureDetails"] = {
                "Message": f"{self.failed} files failed; local AWS's log names them"
            }
        return {name: value for name, value in result.items() if value is not None}
