"""Data repository tasks: FSx's imports, exports and releases on request."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

from moto.s3.exceptions import MissingBucket

from localaws.fsx.repository import Repository
from localaws.fsx.task_paths import Selection, everything, in_bucket, in_file_system

IMPORT = "IMPORT_METADATA_FROM_REPOSITORY"
EXPORT = "EXPORT_TO_REPOSITORY"
RELEASE = "RELEASE_DATA_FROM_FILESYSTEM"
KINDS = (IMPORT, EXPORT, RELEASE)
ENDED = ("SUCCEEDED", "FAILED", "CANCELED")

_LONGEST_MESSAGE = 256
_DAY_S = 86400.0


class Task:
    """One import, export or release, in a thread of its own."""

    def __init__(self, request: dict[str, Any], arn_prefix: str) -> None:
        self.task_id = f"task-{uuid4().hex[:17]}"
        self.kind: str = request["Type"]
        self.file_system_id: str = request["FileSystemId"]
        self.paths: list[str] = request.get("Paths") or []
        self.report = request.get("Report")
        self.release = request.get("ReleaseConfiguration")
        self.arn = f"{arn_prefix}:task/{self.task_id}"
        self.lifecycle = "PENDING"
        self.creation_time = time.time()
        self.end_time: float | None = None
        self.succeeded = 0
        self.failed = 0
        self.failure: str | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a saved task back; its thread is gone."""
        self.__dict__.update({"release": None, "failure": None} | state)
        if not self.has_ended:
            self.lifecycle, self.end_time = "CANCELED", self.creation_time

    @property
    def has_ended(self) -> bool:
        return self.lifecycle in ENDED

    def start(self, repositories: Sequence[Repository]) -> None:
        self.lifecycle = "EXECUTING"
        threading.Thread(target=self._run, args=(repositories,), daemon=True).start()

    def cancel(self) -> None:
        self.lifecycle = "CANCELING"

    def _run(self, repositories: Sequence[Repository]) -> None:
        try:
            self._take_steps(repositories)
            if self.failed:
                done = self.failed + self.succeeded
                self.failure = f"{self.failed} of {done} files failed; local AWS's log names them"
        except MissingBucket:
            self.failure = "the bucket does not exist"
        except (OSError, ValueError) as error:
            self.failure = str(error)
        self.end_time = time.time()
        if self.lifecycle == "CANCELING":
            self.lifecycle = "CANCELED"
        else:
            self.lifecycle = "FAILED" if self.failure else "SUCCEEDED"

    def _take_steps(self, repositories: Sequence[Repository]) -> None:
        for name, step in self._steps(self._select(repositories)):
            if self.lifecycle == "CANCELING":
                return
            try:
                step()
                self.succeeded += 1
            except (OSError, ValueError) as error:
                # FSx goes on with the others too, and lists the failed ones in its report.
                sys.stderr.write(f"{self.task_id}: {name}: {error}\n")
                self.failed += 1

    def _select(self, repositories: Sequence[Repository]) -> list[Selection]:
        """Return what the task works on; a path that is not valid fails all of it."""
        if not self.paths:
            return everything(repositories)
        select = in_bucket if self.kind == IMPORT else in_file_system
        return list(chain.from_iterable(select(path, repositories) for path in self.paths))

    def _steps(self, selections: list[Selection]) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the key of each file, and what to do with it."""
        for selection in selections:
            repository = selection.repository
            if self.kind == IMPORT:
                for key, value in repository.objects():
                    if selection.covers(key):
                        yield key, partial(repository.import_object, key, value)
                continue
            for key, path in repository.files():
                if not selection.covers(key):
                    continue
                if self.kind == EXPORT:
                    yield key, partial(repository.export_file, key, path)
                elif self._is_idle(path) and repository.has_exported(key, path):
                    # Its content stays: nothing would fetch it back when it is read.
                    yield key, lambda: None

    def _is_idle(self, path: Path) -> bool:
        days = ((self.release or {}).get("DurationSinceLastAccess") or {}).get("Value", 0)
        about = path.stat()
        used_at = max(about.st_atime, about.st_mtime, about.st_ctime)
        return not days or self.creation_time - used_at > days * _DAY_S

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
            "ReleaseConfiguration": self.release,
            "Status": {
                "TotalCount": self.succeeded + self.failed,
                "SucceededCount": self.succeeded,
                "FailedCount": self.failed,
                "LastUpdatedTime": self.end_time or time.time(),
            },
        }
        if self.lifecycle == "FAILED":
            result["FailureDetails"] = {"Message": str(self.failure)[:_LONGEST_MESSAGE]}
        return {name: value for name, value in result.items() if value is not None}
