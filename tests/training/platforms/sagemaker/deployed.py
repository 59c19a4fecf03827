"""Stacks as they are after a deploy, and a launch, for plans."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from training.data.mounts import MOUNTS_VARIABLE
from training.outputs import NetworkOutputs, StorageOutputs
from training.platforms.api import Launch, Machine

ACCOUNT, REGION = "123456789012", "us-east-1"
IMAGE = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/mask-rcnn/horovod:0123456789ab"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/12345678-1234-1234-1234-123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/StorageStack-Training-Role"

NETWORK = NetworkOutputs(
    project="mask-rcnn",
    vpc_id="vpc-0123456789abcdef0",
    private_subnet_ids=("subnet-0000000000000000a", "subnet-0000000000000000b"),
    availability_zones=("us-east-1a", "us-east-1b"),
    training_security_group_id="sg-0123456789abcdef0",
)
STORAGE = StorageOutputs(
    bucket_name="job-bucket",
    encryption_key_arn=KEY,
    efs_id="fs-0123456789abcdef0",
    efs_security_group_id="sg-00000000000000002",
    fsx_id="fs-0fedcba9876543210",
    fsx_mount_name="abcdefgh",
    fsx_dns_name="fs-0fedcba9876543210.fsx.us-east-1.amazonaws.com",
    fsx_subnet_id="subnet-0000000000000000b",
    fsx_availability_zone="us-east-1b",
    fsx_security_group_id="sg-00000000000000003",
    fsx_data_path="/data",
    training_role_arn=ROLE,
)


def launched(*, resume: bool = False, mounts: Path | None = None) -> Launch:
    """Return a launch on a machine that has file systems below `mounts`, by their ids."""
    return Launch(
        now=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        resume=resume,
        machine=Machine(
            python=Path("/venv/bin/python"),
            project=Path("/project"),
            working_directory=Path("/work"),
            cores=4,
            gpus=0,
            environ={MOUNTS_VARIABLE: str(mounts)} if mounts else {},
        ),
    )
