"""What a job on SageMaker needs in a local AWS, as the stacks would have made it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.conftest import LocalAws
from tests.training.platforms.sagemaker.planning import STACKS
from training.data.manifest import Manifest
from training.layout import TRAIN_PATH

REGION = "us-east-1"
"""Of all that is made."""

_MANIFEST = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
    "config": {"digest": f"sha256:{'1' * 64}"},
    "layers": [],
}

_TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": {
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
            "Action": "sts:AssumeRole",
        },
    }
)


@dataclass(frozen=True)
class JobPlace:
    """Network, a bucket with data, EFS and an image."""

    outputs_file: Path
    """Of the stacks."""
    repository: str
    """The URI of one in ECR, which has an image with the tag `1`."""

    @property
    def image(self) -> str:
        return f"{self.repository}:1"


def make_job_place(aws: LocalAws, folder: Path) -> JobPlace:
    """Make it, with names of its own.

    EFS has mount targets in two of the three zones.

    Args:
        aws: Where.
        folder: For the file of outputs.
    """
    mark = uuid4().hex[:8]
    network, targets = _make_network(aws, mark)
    efs = aws.client("efs")
    efs_id = efs.create_file_system(CreationToken=mark, Encrypted=True)["FileSystemId"]
    for subnet_id in network["PrivateSubnetIds"].split(",")[:2]:
        efs.create_mount_target(FileSystemId=efs_id, SubnetId=subnet_id, SecurityGroups=[targets])
    role = aws.client("iam").create_role(RoleName=f"jobs-{mark}", AssumeRolePolicyDocument=_TRUST)
    storage = {
        "BucketName": _make_bucket(aws, mark),
        "EncryptionKeyArn": aws.client("kms").create_key()["KeyMetadata"]["Arn"],
        "EfsId": efs_id,
        "EfsSecurityGroupId": targets,
        "TrainingRoleArn": role["Role"]["Arn"],
    }
    stacks = {
        **STACKS,
        "NetworkStack": STACKS["NetworkStack"] | network,
        "StorageStack": STACKS["StorageStack"] | storage,
    }
    outputs_file = folder / "outputs.json"
    outputs_file.write_text(json.dumps(stacks))
    return JobPlace(outputs_file, _push_image(aws, mark))


def _make_network(aws: LocalAws, mark: str) -> tuple[dict[str, str], str]:
    """Return outputs of the network, and the security group of mount targets."""
    ec2 = aws.client("ec2")
    vpc_id = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    zones = [f"{REGION}{letter}" for letter in "abc"]
    subnets: list[str] = [
        ec2.create_subnet(VpcId=vpc_id, CidrBlock=f"10.7.{number}.0/24", AvailabilityZone=zone)[
            "Subnet"
        ]["SubnetId"]
        for number, zone in enumerate(zones)
    ]
    # On the main route table, which all of them use.
    (table,) = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc_id]}])[
        "RouteTables"
    ]
    ec2.create_vpc_endpoint(
        VpcId=vpc_id,
        ServiceName=f"com.amazonaws.{REGION}.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[table["RouteTableId"]],
    )
    jobs, targets = (
        ec2.create_security_group(GroupName=f"{name}-{mark}", Description="-", VpcId=vpc_id)[
            "GroupId"
        ]
        for name in ("jobs", "targets")
    )
    from_jobs: list[Any] = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": jobs}]}]
    ec2.authorize_security_group_ingress(GroupId=jobs, IpPermissions=from_jobs)
    ec2.authorize_security_group_egress(GroupId=jobs, IpPermissions=from_jobs)
    ec2.authorize_security_group_ingress(GroupId=targets, IpPermissions=from_jobs)
    outputs = {
        "VpcId": vpc_id,
        "PrivateSubnetIds": ",".join(subnets),
        "AvailabilityZones": ",".join(zones),
        "TrainingSecurityGroupId": jobs,
    }
    return outputs, targets


def _make_bucket(aws: LocalAws, mark: str) -> str:
    """Return a bucket with files where those of a whole copy are; nothing reads them."""
    s3, bucket = aws.client("s3"), f"job-{mark}"
    s3.create_bucket(Bucket=bucket)
    for name in (
        *("annotations/instances_train2017.json", "annotations/instances_val2017.json"),
        *("train2017/1.jpg", "val2017/2.jpg"),
    ):
        s3.put_object(Bucket=bucket, Key=f"{TRAIN_PATH}/{name}")
    s3.put_object(Bucket=bucket, Key=f"{TRAIN_PATH}/manifest.json", Body=Manifest.of([]).to_bytes())
    return bucket


def _push_image(aws: LocalAws, mark: str) -> str:
    ecr, name = aws.client("ecr"), f"job-{mark}"
    made = ecr.create_repository(repositoryName=name)
    ecr.put_image(repositoryName=name, imageManifest=json.dumps(_MANIFEST), imageTag="1")
    return str(made["repository"]["repositoryUri"])
