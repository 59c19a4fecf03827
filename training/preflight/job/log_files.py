"""The files of a job's log folder, for checks: on S3, or where it is mounted on this machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from training.aws.s3 import S3
from training.preflight.job.asked import S3Place


class LogFiles(ABC):
    """Part of a check that reads a log folder, wherever that is."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the folder is, for messages."""

    @abstractmethod
    def read(self, name: str, *, last_bytes: int | None = None) -> bytes | None:
        """Return a file of the folder; None where it is not there.

        Args:
            last_bytes: So many of its end, or all of a shorter one; None: all.

        Raises:
            OSError: It cannot be read.
        """


@dataclass(frozen=True)
class LogOnS3(LogFiles):
    """On S3."""

    s3: S3
    log: S3Place

    @property
    def place(self) -> str:
        return str(self.log)

    def read(self, name: str, *, last_bytes: int | None = None) -> bytes | None:
        return self.s3.read(self.log.bucket, f"{self.log.key}/{name}", last_bytes=last_bytes)


@dataclass(frozen=True)
class LogInFolder(LogFiles):
    """On a file system that is mounted on this machine."""

    log: Path

    @property
    def place(self) -> str:
        return str(self.log)

    def read(self, name: str, *, last_bytes: int | None = None) -> bytes | None:
        try:
            with (self.log / name).open("rb") as file:
                if last_bytes is not None:
                    file.seek(max(0, file.seek(0, 2) - last_bytes))
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
