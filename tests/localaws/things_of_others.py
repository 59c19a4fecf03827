"""What may be there before the app is deployed: the things that its settings name by id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.conftest import LocalAws
from tests.stacks.matrix import (
    EXISTING_BUCKET,
    EXISTING_EFS,
    EXISTING_FSX,
    EXISTING_VPC,
    MATRIX,
    MOUNTED_EFS,
)

ZONES = ("us-west-2a", "us-west-2b", "us-west-2c")
"""Those of the matrix."""


@dataclass(frozen=True)
class ThingsOfOthers:
    """They are there, in one region.

    Attributes:
        ids: What the matrix of settings calls a thing, to its id here.
        bare_efs_id: A file system without mount targets.
        key_arn: A KMS key.
    """

    ids: Mapping[str, str]
    bare_efs_id: str
    key_arn: str

    def settings(self, row: str) -> dict[str, Any]:
        """Return a row of the matrix with the ids of what is here."""
        text = json.dumps(MATRIX[row])
        for placeholder, real in self.ids.items():
            text = text.replace(placeholder, real)
        settings: dict[str, Any] = json.loads(text)
        return settings


def make_things_of_others(aws: LocalAws) -> ThingsOfOthers:
    """Make a VPC, file systems, buckets and a key."""
    ids = _make_vpc(aws.client("ec2"))
    subnets = [ids[f"subnet-0123456789abcdef{number}"] for number in (1, 2, 3)]
    efs = aws.client("efs")
    mounted, bare = (efs.create_file_system(CreationToken=token) for token in ("mounted", "bare"))
    for subnet in subnets:
        efs.create_mount_target(
            FileSystemId=mounted["FileSystemId"],
            SubnetId=subnet,
            SecurityGroups=[ids[MOUNTED_EFS["efs_security_group_id"]]],
        )
    lustre = aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=subnets[:1],
        SecurityGroupIds=[ids[EXISTING_FSX["fsx_security_group_id"]]],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]
    here = {"LocationConstraint": aws.env["AWS_REGION"]}
    for bucket in (EXISTING_BUCKET["bucket_name"], MATRIX["logs-elsewhere"]["bucket_access_logs"]):
        aws.client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=here)
    ids |= {
        EXISTING_EFS["efs_id"]: mounted["FileSystemId"],
        EXISTING_FSX["fsx_id"]: lustre["FileSystemId"],
        EXISTING_FSX["fsx_mount_name"]: lustre["LustreConfiguration"]["MountName"],
    }
    key = aws.client("kms").create_key()["KeyMetadata"]["Arn"]
    return ThingsOfOthers(ids, bare["FileSystemId"], key)


def _make_vpc(ec2: Any) -> dict[str, str]:
    """Make what the matrix has of a VPC, and return its names to the ids."""
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    ids = {EXISTING_VPC["vpc_id"]: vpc}
    for number, zone in enumerate((*ZONES, ZONES[0]), start=1):
        subnet = ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"10.9.{number}.0/24", AvailabilityZone=zone
        )["Subnet"]
        ids[f"subnet-0123456789abcdef{number}"] = subnet["SubnetId"]
    for number in (1, 2):
        table = ec2.create_route_table(VpcId=vpc)["RouteTable"]
        ids[f"rtb-0123456789abcdef{number}"] = table["RouteTableId"]
    for number in (0, 1, 2):
        group = ec2.create_security_group(
            VpcId=vpc, GroupName=f"group{number}", Description="Of others"
        )
        ids[f"sg-0123456789abcdef{number}"] = group["GroupId"]
    return ids
