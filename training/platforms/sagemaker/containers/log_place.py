"""Where a job's log folder is: for this machine, and for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from training.layout import LogChannel
from training.platforms.sagemaker.checkpoints import is_checkpoint
from training.platforms.sagemaker.containers.folders import HostFolders
from training.platforms.sagemaker.containers.mounts import Mount


@dataclass(frozen=True)
class LogPlace:
    """The log folder of a job."""

    address: str
    """Where the user finds it: a folder of this machine, or s3://…"""
    folders: tuple[Path, ...]
    """The same on this machine while the job's own folders are there: one, or each host's."""

    @classmethod
    def of(
        cls, body: Mapping[str, Any], channels: Sequence[Mount], hosts: Sequence[HostFolders]
    ) -> Self:
        """Find it: the channel that is written to, or else what goes to the checkpoints' place."""
        for mount in channels:
            if mount.writable:
                return cls(str(mount.folder), (mount.folder,))
        address = body["CheckpointConfig"]["S3Uri"].rstrip("/")
        return cls(address, tuple(host.checkpoints for host in hosts))

    def newest_checkpoint(self) -> str | None:
        """Return where the newest whole checkpoint is; None where there is none."""
        found = ((file.stat().st_mtime_ns, path) for file, path in self._checkpoints())
        newest = max(found, default=None)
        return newest and f"{self.address}/{newest[1]}"

    def report(self) -> str | None:
        """Return where the report is; None where the job has written none."""
        for folder in self.folders:
            if (report := LogChannel(folder).report).is_file():
                return f"{self.address}/{report.relative_to(folder)}"
        return None

    def _checkpoints(self) -> Iterator[tuple[Path, str]]:
        for folder in self.folders:
            for file in LogChannel(folder).checkpoints.rglob("*"):
                path = file.relative_to(folder).as_posix()
                if is_checkpoint(path):
                    yield file, path
