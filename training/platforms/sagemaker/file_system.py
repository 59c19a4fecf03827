"""The file system that a job's channels are on, and how a request names places on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from training.data.mounts import find_mount
from training.job import Job
from training.outputs import StorageOutputs


@dataclass(frozen=True, kw_only=True)
class FileSystem:
    """EFS, or FSx for Lustre."""

    id: str
    type: Literal["EFS", "FSxLustre"]
    mount_name: str = ""
    """Lustre's own name of the file system, which is the first part of every path in a request;
    EFS has none."""
    data_path: str = ""
    """The folder that channel paths begin at, from the root, without slashes at its ends: of
    Lustre, only that folder mirrors the bucket. Empty where it is the root."""

    def __str__(self) -> str:
        return f"{'EFS' if self.type == 'EFS' else 'FSx for Lustre'} {self.id}"

    def path(self, channel: str) -> str:
        """Return a channel's path from the root of the file system."""
        return f"{self.data_path}/{channel}" if self.data_path else channel

    def channel(self, name: str, path: str, mode: Literal["ro", "rw"]) -> dict[str, Any]:
        """Return an item of InputDataConfig.

        Args:
            name: Of the channel.
            path: From the root of the file system; empty is all of it.
            mode: Whether containers may write.
        """
        source = {
            "FileSystemId": self.id,
            "FileSystemAccessMode": mode,
            "FileSystemType": self.type,
            "DirectoryPath": "/" + "/".join(part for part in (self.mount_name, path) if part),
        }
        return {"ChannelName": name, "DataSource": {"FileSystemDataSource": source}}

    def mount(self, environ: Mapping[str, str]) -> Path | None:
        """Return the folder of this machine that holds its root; None where it is not mounted."""
        names = (self.mount_name,) if self.mount_name else ()
        return find_mount(self.id, environ=environ, aliases=names)


def file_system(job: Job, storage: StorageOutputs) -> FileSystem | None:
    """Return the file system of a job's data source; None for s3.

    Raises:
        UsageError: StorageStack has no such file system.
    """
    if job.spec.data_source == "s3":
        return None
    if job.spec.data_source == "efs":
        return FileSystem(id=storage.efs_id, type="EFS")
    lustre = storage.lustre(asked_by="data_source: fsx")
    return FileSystem(
        id=lustre.id,
        type="FSxLustre",
        mount_name=lustre.mount_name,
        data_path=lustre.data_path.strip("/"),
    )
