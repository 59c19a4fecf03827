"""Where a job's data and logs are in its pods."""

from __future__ import annotations

from dataclasses import dataclass

from training.errors import UsageError
from training.job import Job
from training.outputs import StorageOutputs

EFS_MOUNT, FSX_MOUNT = "/efs", "/fsx"
"""Where the charts mount the claims of charts/cluster."""

MAX_PATH_LENGTH = 512


@dataclass(frozen=True, kw_only=True)
class Places:
    """The folders of one job."""

    log: str
    """On EFS, whatever the data source."""
    data: str
    """A folder of the file system, or s3://…, which each worker copies to its node first."""
    data_fs: str
    """`efs` or `fsx`: what is mounted for it."""

    @property
    def is_copied(self) -> bool:
        return self.data.startswith("s3://")


def places_of(job: Job, storage: StorageOutputs, *, run_name: str) -> Places:
    """Return where a job reads and writes.

    Args:
        run_name: Of the log folder.

    Raises:
        UsageError: There is no FSx for Lustre, or a path is too long.
    """
    train, source = job.spec.channels.train, job.spec.data_source
    log = f"{EFS_MOUNT}/{job.spec.channels.log}/{run_name}"
    if source == "s3":
        data = f"s3://{storage.bucket_name}/{storage.key(train)}"
    elif source == "efs":
        data = f"{EFS_MOUNT}/{train}"
    else:
        lustre = storage.lustre(asked_by="data_source: fsx")
        # Only this folder of the Lustre file system mirrors the bucket.
        folders = (FSX_MOUNT, lustre.data_path.strip("/"), train)
        data = "/".join(folder for folder in folders if folder)
    for key, path in (("channels.train", data), ("channels.log", log)):
        if len(path) > MAX_PATH_LENGTH:
            raise UsageError(
                f"{key}: in the pods it is {path[:40]}…, {len(path)} characters; they take "
                f"{MAX_PATH_LENGTH}"
            )
    return Places(log=log, data=data, data_fs="fsx" if source == "fsx" else "efs")
