"""Plans for the tests of the platform `sagemaker`: stack outputs, a clock and a machine."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from training.job import Job, read_job
from training.outputs import Outputs
from training.platforms.api import Launch, Machine, Plan
from training.platforms.sagemaker import platform

ACCOUNT = "123456789012"
KEY_ARN = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/12345678-1234-1234-1234-123456789012"
REGISTRY = f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com"
SUBNETS = [f"subnet-0123456789abcdef{number}" for number in (1, 2, 3)]
IMAGE = f"{REGISTRY}/mask-rcnn:0123456789abcdef"

STACKS = {
    "NetworkStack": {
        "Project": "mask-rcnn",
        "VpcId": "vpc-0123456789abcdef0",
        "PrivateSubnetIds": ",".join(SUBNETS),
        "AvailabilityZones": "us-west-2a,us-west-2b,us-west-2c",
        "TrainingSecurityGroupId": "sg-0123456789abcdef0",
    },
    "StorageStack": {
        "BucketName": "bucket",
        "EncryptionKeyArn": KEY_ARN,
        "EfsId": "fs-0123456789abcdef0",
        "EfsSecurityGroupId": "sg-0123456789abcdef1",
        "TrainingRoleArn": f"arn:aws:iam::{ACCOUNT}:role/training",
        "FsxId": "fs-0123456789abcdef9",
        "FsxMountName": "abcdefgh",
        "FsxDnsName": "fs-0123456789abcdef9.fsx.us-west-2.amazonaws.com",
        "FsxSubnetId": SUBNETS[1],
        "FsxAvailabilityZone": "us-west-2b",
        "FsxSecurityGroupId": "sg-0123456789abcdef2",
        "FsxDataPath": "/data",
    },
    "RegistryStack": {
        "HorovodRepositoryUri": f"{REGISTRY}/mask-rcnn/horovod",
        "TensorpackRepositoryUri": f"{REGISTRY}/mask-rcnn/tensorpack",
        "AwsSamplesRepositoryUri": f"{REGISTRY}/mask-rcnn/aws-samples",
        "Tf2SmddpRepositoryUri": f"{REGISTRY}/mask-rcnn/tf2-smddp",
    },
}


def outputs(**storage: str | None) -> Outputs:
    """Return the stacks' outputs, some of StorageStack's set otherwise; None leaves one out."""
    changed = {**STACKS["StorageStack"], **storage}
    kept = {key: value for key, value in changed.items() if value is not None}
    return Outputs({**STACKS, "StorageStack": kept}, source="outputs.json")


def launch(*, resume: bool = False, gpus: int = 0, **environ: str) -> Launch:
    return Launch(
        now=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        resume=resume,
        machine=Machine(
            python=Path("/venv/bin/python"),
            project=Path("/project"),
            working_directory=Path("/here"),
            cores=4,
            gpus=gpus,
            environ=environ,
        ),
    )


def make_job(**overrides: Any) -> Job:
    """Return a job for SageMaker; a double underscore stands for a key's dot."""
    keys = {name.replace("__", "."): value for name, value in overrides.items()}
    return read_job(None, {"platform": "sagemaker", "image": IMAGE, **keys})


def plan(
    *, stacks: Outputs | None = None, launched: Launch | None = None, **overrides: Any
) -> Plan:
    return platform.plan(make_job(**overrides), stacks or outputs(), launched or launch())


def body(**options: Any) -> dict[str, Any]:
    """Return the CreateTrainingJob body of a plan."""
    return plan(**options).request.to_json()
