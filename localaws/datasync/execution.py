"""One execution of a task: the copy, in a thread of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from typing import Any

from moto.datasync.models import TaskExecution
from moto.s3.exceptions import S3ClientError

from localaws.datasync.side import BucketSide, Side

ENDED = ("SUCCESS", "ERROR")

STAGE_S = 0.2
"""How long each stage before the copy takes; on AWS it is a minute or more."""


class Execution(TaskExecution):
    """A copy that is made as its task says."""

    def __init__(self, task_arn: str, number: int) -> None:
        super().__init__(task_arn, arn_counter=number)
        self.status = "LAUNCHING"
        self.started = time.time()
        self.error: str | None = None
        self.estimated_files = self.estimated_bytes = 0
        self.files = self.bytes = 0
        self.is_cancelled = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a saved execution back; its thread is gone."""
        self.__dict__.update(state)
        if self.status not in ENDED:
            self.status, self.error = "ERROR", "local AWS was stopped"

    def start(
        self, source: Side, target: Side, excluded: Iterable[str], report: dict[str, Any] | None
    ) -> None:
        argv = (source, target, tuple(excluded), report)
        threading.Thread(target=self._run, args=argv, daemon=True).start()

    def cancel(self) -> None:
        self.is_cancelled = True

    def iterate_status(self) -> None:
        """moto's way to get on; here the copy itself does."""

    def _run(
        self, source: Side, target: Side, excluded: tuple[str, ...], report: dict[str, Any] | None
    ) -> None:
        try:
            self._copy(source, target, excluded)
        except (OSError, ValueError, S3ClientError) as error:
            self.error = str(error) or type(error).__name__
        if self.is_cancelled:
            self.error = "the execution was cancelled"
        if report is not None:
            self._write_report(report)
        self.status = "ERROR" if self.error else "SUCCESS"

    def _copy(self, source: Side, target: Side, excluded: tuple[str, ...]) -> None:
        time.sleep(STAGE_S)
        self.status = "PREPARING"
        there = set(target.files())
        wanted = [path for path in source.files() if not _is_excluded(path, excluded)]
        # As TransferMode CHANGED: by content, where AWS goes by size and time.
        wanted = [
            path for path in wanted if path not in there or target.read(path) != source.read(path)
        ]
        self.estimated_files = len(wanted)
        self.estimated_bytes = sum(len(source.read(path)) for path in wanted)
        time.sleep(STAGE_S)
        self.status = "TRANSFERRING"
        for path in wanted:
            if self.is_cancelled:
                return
            content = source.read(path)
            target.write(path, content)
            self.files += 1
            self.bytes += len(content)
        self.status = "VERIFYING"
        for path in wanted:
            if target.read(path) != source.read(path):
                raise ValueError(f"{path}: differs at the destination")

    def _write_report(self, report: dict[str, Any]) -> None:
        place = report["Destination"]["S3"]
        prefix = place.get("Subdirectory", "").strip("/")
        bucket = place["S3BucketArn"].rpartition(":")[2]
        name = self.arn.rpartition("/")[2]
        summary = {
            "TaskExecutionId": name,
            "TaskStatus": "ERROR" if self.error else "SUCCESS",
            "FilesTransferred": self.files,
            "BytesTransferred": self.bytes,
        }
        side = BucketSide(bucket, f"{prefix}/" if prefix else "")
        try:
            side.write(f"Summary-Reports/{name}.json", json.dumps(summary).encode())
        except S3ClientError as error:
            self.error = self.error or f"the report cannot be written: {error}"

    def describe(self) -> dict[str, Any]:
        """Return what DescribeTaskExecution answers."""
        result = {"ErrorCode": "TransferFailed", "ErrorDetail": self.error} if self.error else {}
        return {
            "TaskExecutionArn": self.arn,
            "Status": self.status,
            "StartTime": self.started,
            "EstimatedFilesToTransfer": self.estimated_files,
            "EstimatedBytesToTransfer": self.estimated_bytes,
            "FilesTransferred": self.files,
            "BytesTransferred": self.bytes,
            "BytesWritten": self.bytes,
            "Result": result,
        }


def _is_excluded(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a filter names a file, or a folder that it is in.

    https://docs.aws.amazon.com/datasync/latest/userguide/filtering.html
    """
    return any(f"/{path}/".startswith(f"{pattern.rstrip('/')}/") for pattern in patterns)
