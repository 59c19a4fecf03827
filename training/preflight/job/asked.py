"""What a CreateTrainingJob request asks for: the values that checks judge.

They are read from the request itself and not from the job spec, so that what is judged is what
would be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from training.data.mounts import find_mount
from training.outputs import PROJECT_TAG
from training.platforms.copied_data import bucket_and_key


@dataclass(frozen=True)
class FileSystemChannel:
    """A folder of a file system."""

    name: str
    file_system_id: str
    type: str
    """`EFS` or `FSxLustre`."""
    path: str
    """From the file system's root; of Lustre it begins with the mount name."""

    def folder_here(self, environ: Mapping[str, str]) -> Path | None:
        """Return where it is on this machine; None where the file system is not mounted."""
        parts = self.path.strip("/").split("/")
        names = (parts.pop(0),) if self.type == "FSxLustre" else ()
        root = find_mount(self.file_system_id, environ=environ, aliases=names)
        return root and root.joinpath(*parts)


@dataclass(frozen=True)
class S3Place:
    """A bucket and the beginning of keys in it."""

    bucket: str
    key: str
    """Without slashes at its ends."""

    @classmethod
    def parse(cls, address: str) -> Self:
        """Read s3://bucket/key."""
        bucket, key = bucket_and_key(address)
        return cls(bucket, key.strip("/"))

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}".rstrip("/")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The values of one request."""

    job_name: str
    image: str
    role_arn: str
    instance_type: str
    """With SageMaker's `ml.`."""
    instance_count: int
    volume_gib: int | None
    """Of EBS; None where the type has NVMe of its own."""
    input_mode: str
    subnet_ids: tuple[str, ...]
    group_ids: tuple[str, ...]
    file_systems: tuple[FileSystemChannel, ...]
    train_on_s3: S3Place | None
    output: S3Place
    checkpoints: S3Place | None
    key_arns: tuple[str, ...]
    """Of KMS, each once."""
    is_spot: bool
    has_training_plan: bool
    keep_alive_s: int
    max_run_s: int
    project: str | None
    """The value of the tag `Project`."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        """Read a CreateTrainingJob body, which is whole."""
        resources, output = body["ResourceConfig"], body["OutputDataConfig"]
        vpc = body.get("VpcConfig", {})
        keys = (output.get("KmsKeyId"), resources.get("VolumeKmsKeyId"))
        checkpoints = body.get("CheckpointConfig", {}).get("S3Uri")
        return cls(
            job_name=body["TrainingJobName"],
            image=body["AlgorithmSpecification"]["TrainingImage"],
            role_arn=body["RoleArn"],
            instance_type=resources["InstanceType"],
            instance_count=resources["InstanceCount"],
            volume_gib=resources.get("VolumeSizeInGB"),
            input_mode=body["AlgorithmSpecification"]["TrainingInputMode"],
            subnet_ids=tuple(vpc.get("Subnets", ())),
            group_ids=tuple(vpc.get("SecurityGroupIds", ())),
            file_systems=tuple(_file_systems(body)),
            train_on_s3=_train_on_s3(body),
            output=S3Place.parse(output["S3OutputPath"]),
            checkpoints=S3Place.parse(checkpoints) if checkpoints else None,
            key_arns=tuple(dict.fromkeys(key for key in keys if key)),
            is_spot=bool(body.get("EnableManagedSpotTraining")),
            has_training_plan="TrainingPlanArn" in resources,
            keep_alive_s=resources.get("KeepAlivePeriodInSeconds", 0),
            max_run_s=body["StoppingCondition"]["MaxRuntimeInSeconds"],
            project=next(
                (tag["Value"] for tag in body.get("Tags", ()) if tag["Key"] == PROJECT_TAG), None
            ),
        )


def _file_systems(body: Mapping[str, Any]) -> list[FileSystemChannel]:
    inputs = body.get("InputDataConfig", ())
    channels = [(each["ChannelName"], each["DataSource"]) for each in inputs]
    return [
        FileSystemChannel(
            name, found["FileSystemId"], found["FileSystemType"], found["DirectoryPath"]
        )
        for name, source in channels
        if (found := source.get("FileSystemDataSource"))
    ]


def _train_on_s3(body: Mapping[str, Any]) -> S3Place | None:
    for channel in body.get("InputDataConfig", ()):
        source = channel["DataSource"].get("S3DataSource")
        if channel["ChannelName"] == "train" and source:
            return S3Place.parse(source["S3Uri"])
    return None
