"""Turn what the user names — a folder, s3://…, or s3, efs, fsx — into a side of a copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from training.data.folder import Folder
from training.data.mounts import MOUNTS_VARIABLE, find_mount
from training.data.paths import clean_prefix, path_of_set
from training.data.side import Side
from training.errors import UsageError
from training.layout import TRAIN_PATH
from training.outputs import Outputs, StorageOutputs

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_SCHEME = "s3://"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
"""https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"""


class Place(StrEnum):
    """A place that StorageStack made."""

    S3 = "s3"
    EFS = "efs"
    FSX = "fsx"


@dataclass(frozen=True)
class LustrePlace:
    """A folder of an FSx for Lustre file system.

    Attributes:
        file_system_id: `fs-…`.
        path: Below the root of the file system, without slashes at its ends.
        folder: The same on this machine; None where the file system is not mounted here.
    """

    file_system_id: str
    path: str
    folder: Folder | None


class Places:
    """Finds sides; clients and outputs are made when one is first needed."""

    def __init__(
        self,
        *,
        make_client: Callable[[], S3Client],
        read_outputs: Callable[[], Outputs],
        environ: Mapping[str, str],
    ) -> None:
        self._make_client = make_client
        self._read_outputs = read_outputs
        self._environ = environ

    @cached_property
    def client(self) -> S3Client:
        """S3's."""
        return self._make_client()

    @cached_property
    def _storage(self) -> StorageOutputs:
        return self._read_outputs().read(StorageOutputs)

    def named(self, text: str) -> Side:
        """Return `s3://bucket/prefix`, a place of the stack such as `efs:`, or else a folder.

        Raises:
            UsageError: An S3 address without a bucket, or with a prefix that cannot be one; or what
                `of_stack` raises.
        """
        if (place := place_in(text)) is not None:
            return self.of_stack(place, text.partition(":")[2] or TRAIN_PATH)
        if not text.startswith(_SCHEME):
            return Folder(Path(text))
        return self._bucket(*bucket_and_prefix(text))

    def of_stack(self, place: Place, path: str) -> Side:
        """Return a place that StorageStack made.

        Args:
            place: Which.
            path: Below the bucket's prefix, the EFS root, or the FSx folder that mirrors it.

        Raises:
            UsageError: The stack is not deployed or has no such place, or the file system is not
                mounted here.
        """
        prefix = path_of_set(path)
        if place is Place.S3:
            return self._bucket(self._storage.bucket_name, self._storage.key(prefix))
        if place is Place.EFS:
            return Folder(self._mount(self._storage.efs_id, "EFS") / prefix)
        lustre = self.lustre(path)
        if lustre.folder is None:
            raise _not_mounted("FSx for Lustre", lustre.file_system_id)
        return lustre.folder

    def lustre(self, path: str) -> LustrePlace:
        """Return the place on FSx for Lustre, mounted here or not.

        Raises:
            UsageError: The stack is not deployed or has none.
        """
        outputs = self._storage.lustre(asked_by=Place.FSX.value)
        inside = f"{outputs.data_path.strip('/')}/{clean_prefix(path)}".strip("/")
        root = find_mount(outputs.id, environ=self._environ, aliases=[outputs.mount_name])
        return LustrePlace(outputs.id, inside, Folder(root / inside) if root else None)

    def _bucket(self, bucket: str, prefix: str) -> Side:
        from training.data.bucket import Bucket

        return Bucket(self.client, bucket, prefix)

    def _mount(self, file_system_id: str, kind: str) -> Path:
        mount = find_mount(file_system_id, environ=self._environ)
        if mount is None:
            raise _not_mounted(kind, file_system_id)
        return mount


def bucket_and_prefix(address: str) -> tuple[str, str]:
    """Return the parts of `s3://bucket/prefix`, the prefix clean.

    Raises:
        UsageError: No bucket is called so, or no data set can be there.
    """
    bucket, _, prefix = address.removeprefix(_SCHEME).partition("/")
    if not bucket:
        raise UsageError(f"{address!r}: names no bucket; write s3://bucket/prefix")
    if not _BUCKET.fullmatch(bucket):
        raise UsageError(
            f"{address!r}: no bucket is called {bucket!r}: expected 3 to 63 small letters, digits, "
            "hyphens and dots"
        )
    return bucket, clean_prefix(prefix)


def place_in(text: str) -> Place | None:
    """Return the place of the stack that `efs:PATH`, `fsx:` or `s3:` names; None for others."""
    name, colon, path = text.partition(":")
    is_place = bool(colon) and name in tuple(Place) and not path.startswith("//")
    return Place(name) if is_place else None


def _not_mounted(kind: str, file_system_id: str) -> UsageError:
    return UsageError(
        f"{kind} file system {file_system_id} is not mounted on this machine. Run this where it "
        f"is mounted; for local AWS, set {MOUNTS_VARIABLE}: "
        'eval "$(python -m localaws env)"'
    )
