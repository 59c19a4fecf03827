"""What DataSync is asked to do: two locations and a task."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.data.paths import path_of_set
from training.data.places import Place
from training.data.request import StageRequest
from training.errors import UsageError
from training.outputs import PROJECT_TAG, NetworkOutputs, StorageOutputs

REPORTS = "datasync-reports"
"""The folder of the bucket (below its prefix) that DataSync writes its reports to."""

EXCLUDED = ("/.partial", "/.annotation-tables", "/manifest.json")
"""What belongs to one side alone: the copy that follows writes the manifest, last."""

# What DataSync takes in a path (S3Subdirectory and its like in botocore 1.44.8's model).
_PATH = re.compile(r"[A-Za-z0-9_+./() -]+")


@dataclass(frozen=True)
class Location:
    """One side."""

    kind: str
    """`s3`, `efs` or `fsx_lustre`."""
    request: Mapping[str, Any]
    """Of CreateLocationS3 and its like."""


@dataclass(frozen=True)
class Transfer:
    """A copy by DataSync; the task's two locations are known once they are made."""

    source: Location
    target: Location
    task: Mapping[str, Any]
    """Of CreateTask, without its locations."""

    @property
    def name(self) -> str:
        return str(self.task["Name"])

    def to_json(self) -> dict[str, Any]:
        return {
            "source": {self.source.kind: dict(self.source.request)},
            "target": {self.target.kind: dict(self.target.request)},
            "task": dict(self.task),
        }


def plan_transfer(
    request: StageRequest, network: NetworkOutputs, storage: StorageOutputs
) -> Transfer:
    """Return what DataSync would be asked.

    Its name is a hash of all of it: the same copy, asked for again, is the same task.

    Raises:
        UsageError: The stacks have no role for it, the copy is not between two of their places, or
            DataSync cannot take the path, or it can be no data set's.
    """
    if request.source or request.origin is None:
        raise UsageError(
            f"--with datasync: copies between the places of StorageStack; {request.source} is "
            "none. Leave it out, or leave --with out"
        )
    role = storage.datasync_role_arn
    if role is None:
        raise UsageError(
            f"--with datasync: {storage.STACK} has no role for it. Deploy it with one: cdk deploy "
            f"{storage.STACK} -c datasync=true"
        )
    # What would leave the place, or be all of it, is refused before it is paid for.
    path = path_of_set(request.path)
    if not _PATH.fullmatch(path):
        raise UsageError(
            f"--path {request.path}: DataSync takes A-Z, a-z, 0-9, blanks and _+./()- only"
        )
    of = _Arns(storage)
    tags = [{"Key": PROJECT_TAG, "Value": network.project}]
    sides = [
        _location(place, path, network, storage, role=role, of=of, tags=tags)
        for place in (request.origin, request.to)
    ]
    task = {
        "Options": OPTIONS,
        "Excludes": [{"FilterType": "SIMPLE_PATTERN", "Value": "|".join(EXCLUDED)}],
        "TaskReportConfig": {
            "Destination": {
                "S3": {
                    "Subdirectory": f"/{storage.key(REPORTS)}/",
                    "S3BucketArn": of.bucket,
                    "BucketAccessRoleArn": role,
                }
            },
            "OutputType": "STANDARD",
            "ReportLevel": "ERRORS_ONLY",
        },
        # Others than Basic know no file systems of AWS:
        # https://docs.aws.amazon.com/datasync/latest/userguide/choosing-task-mode.html
        "TaskMode": "BASIC",
        "Tags": tags,
    }
    text = json.dumps([side.request for side in sides] + [task], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    name = f"mask-rcnn-{request.origin}-{request.to}-{digest}"
    return Transfer(sides[0], sides[1], {"Name": name, **task})


OPTIONS: Mapping[str, str] = {
    # The copy that follows compares all of it; the other mode fails where the target has more.
    "VerifyMode": "ONLY_FILES_TRANSFERRED",
    "OverwriteMode": "ALWAYS",
    "TransferMode": "CHANGED",
    "PreserveDeletedFiles": "PRESERVE",
    "Mtime": "PRESERVE",
    "Atime": "BEST_EFFORT",
    "TaskQueueing": "DISABLED",
    "LogLevel": "OFF",
}


class _Arns:
    """The ARNs of what the outputs name by id."""

    def __init__(self, storage: StorageOutputs) -> None:
        role, key = storage.arn("training_role_arn"), storage.arn("encryption_key_arn")
        self._partition, self._account, self._region = role.partition, role.account, key.region
        self.bucket = f"arn:{self._partition}:s3:::{storage.bucket_name}"

    def of(self, service: str, resource: str) -> str:
        return f"arn:{self._partition}:{service}:{self._region}:{self._account}:{resource}"


def _location(
    place: Place,
    path: str,
    network: NetworkOutputs,
    storage: StorageOutputs,
    *,
    role: str,
    of: _Arns,
    tags: Sequence[Mapping[str, str]],
) -> Location:
    # Its members are admitted by the file systems already.
    group = of.of("ec2", f"security-group/{network.training_security_group_id}")
    if place is Place.S3:
        config = {"BucketAccessRoleArn": role}
        subdirectory = f"/{storage.key(path)}/"
        return Location(
            "s3",
            {
                "S3BucketArn": of.bucket,
                "Subdirectory": subdirectory,
                "S3StorageClass": "STANDARD",
                "S3Config": config,
                "Tags": tags,
            },
        )
    if place is Place.EFS:
        return Location(
            "efs",
            {
                "EfsFilesystemArn": of.of("elasticfilesystem", f"file-system/{storage.efs_id}"),
                "Subdirectory": f"/{path}/",
                "Ec2Config": {
                    "SubnetArn": of.of("ec2", f"subnet/{network.private_subnet_ids[0]}"),
                    "SecurityGroupArns": [group],
                },
                "FileSystemAccessRoleArn": role,
                "InTransitEncryption": "TLS1_2",
                "Tags": tags,
            },
        )
    lustre = storage.lustre(asked_by=place.value)
    inside = "/".join(part for part in (lustre.data_path.strip("/"), path) if part)
    return Location(
        "fsx_lustre",
        {
            "FsxFilesystemArn": of.of("fsx", f"file-system/{lustre.id}"),
            "SecurityGroupArns": [group],
            "Subdirectory": f"/{inside}/",
            "Tags": tags,
        },
    )
