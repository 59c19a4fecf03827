"""Where a job's channels are on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.mounts import find_mount
from training.errors import PreflightError, UsageError
from training.platforms.copied_data import bucket_and_key

COPIES = Path("runs") / "input"
"""Where data of S3 is copied to, below the working directory: as platform `local` does it, so that
both use one copy."""

Copy = Callable[[str, Path], None]
"""Copies `s3://bucket/key` to a folder."""


@dataclass(frozen=True)
class Mount:
    """A folder of this machine as a folder of a container."""

    folder: Path
    target: str
    writable: bool

    @property
    def argument(self) -> str:
        """As `--volume` takes it."""
        return f"{self.folder}:{self.target}:{'rw' if self.writable else 'ro'}"


def bring_channels(
    body: Mapping[str, Any], *, environ: Mapping[str, str], here: Path, copy: Copy
) -> tuple[Mount, ...]:
    """Return the mounts of all channels; what lies on S3 is copied here first.

    A folder to write to need not be there yet.

    Args:
        environ: The launcher's environment, for where file systems are mounted.
        here: The working directory.
        copy: Copies from S3.

    Raises:
        PreflightError: A file system is not mounted here, or a folder is missing.
        UsageError: A channel is of a kind that containers here cannot have.
    """
    if ":" in str(here):
        raise UsageError(
            f"{here}: has a colon, at which a container engine ends a path; run this in another "
            "folder"
        )
    return tuple(
        _bring(channel, environ, here, copy) for channel in body.get("InputDataConfig", ())
    )


def _bring(channel: Mapping[str, Any], environ: Mapping[str, str], here: Path, copy: Copy) -> Mount:
    target = f"/opt/ml/input/data/{channel['ChannelName']}"
    source = channel["DataSource"]
    if "S3DataSource" in source:
        return Mount(_copied(source["S3DataSource"], here, copy), target, writable=False)
    files = source["FileSystemDataSource"]
    folder = _mounted(files, environ)
    writable = files["FileSystemAccessMode"] == "rw"
    if not writable and not folder.is_dir():
        raise PreflightError(
            f"{folder}: there is no such folder, channel {channel['ChannelName']} of file system "
            f"{files['FileSystemId']}. Stage the data: python -m training.data stage"
        )
    return Mount(folder, target, writable)


def _copied(source: Mapping[str, Any], here: Path, copy: Copy) -> Path:
    if source.get("S3DataDistributionType", "FullyReplicated") != "FullyReplicated":
        raise UsageError(
            f"sagemaker.s3_distribution: {source['S3DataDistributionType']}: containers on this "
            "machine share one copy of the data; leave it at FullyReplicated"
        )
    address = source["S3Uri"].rstrip("/")
    bucket, key = bucket_and_key(address)
    folder = here / COPIES / bucket / key
    copy(address, folder)
    return folder


def _mounted(files: Mapping[str, Any], environ: Mapping[str, str]) -> Path:
    identity, parts = files["FileSystemId"], files["DirectoryPath"].strip("/").split("/")
    # A path on Lustre begins with the file system's own name.
    names = (parts.pop(0),) if files["FileSystemType"] == "FSxLustre" else ()
    root = find_mount(identity, environ=environ, aliases=names)
    if root is None:
        raise PreflightError(
            f"file system {identity} is not mounted on this machine, where the containers are to "
            "run. Mount it, take --data-source s3, or another --instance-type"
        )
    return root.joinpath(*parts)
