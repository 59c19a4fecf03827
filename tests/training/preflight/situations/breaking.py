"""How things in an account get broken; each is put right again after the test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.training.preflight.situations.sound import Base, everything
from training.layout import TRAIN_PATH


def nothing(_: Base) -> None:
    """What is wrong is in the job itself."""


def stale(base: Base, stack: str, **outputs: str) -> None:
    """Let a stack's outputs name something that is not there, or is another's."""
    base.told(stack, **outputs)


def lose_image(base: Base, algorithm: str = "horovod") -> None:
    ecr, (uri, _, tag) = base.boto("ecr"), base.images[algorithm].rpartition(":")
    name = uri.partition("/")[2]
    (image,) = ecr.batch_get_image(repositoryName=name, imageIds=[{"imageTag": tag}])["images"]
    ecr.batch_delete_image(repositoryName=name, imageIds=[{"imageTag": tag}])
    base.account.undo.callback(
        ecr.put_image, repositoryName=name, imageManifest=image["imageManifest"], imageTag=tag
    )


def image_is(base: Base, *, days_old: int = 0, size_bytes: int = 10**9) -> None:
    """Let ECR say that an image was pushed so long ago, and is so large."""
    pushed = datetime.now(UTC) - timedelta(days=days_old)
    base.account.says(
        "ecr",
        "DescribeImages",
        lambda said: said["imageDetails"][0].update(
            imagePushedAt=pushed, imageSizeInBytes=size_bytes
        ),
    )


# Security groups.


def close(base: Base, group: str, peer: str) -> None:
    """Let nothing into a group any more."""
    ec2 = base.boto("ec2")
    rule: dict[str, Any] = {"GroupId": group, "IpPermissions": everything(peer)}
    ec2.revoke_security_group_ingress(**rule)
    base.account.undo.callback(ec2.authorize_security_group_ingress, **rule)


def close_out(base: Base, group: str, rules: list[dict[str, Any]]) -> None:
    """Let something out of a group no more."""
    ec2 = base.boto("ec2")
    rule: dict[str, Any] = {"GroupId": group, "IpPermissions": rules}
    ec2.revoke_security_group_egress(**rule)
    base.account.undo.callback(ec2.authorize_security_group_egress, **rule)


def narrow(base: Base, group: str, peer: str, *ports: tuple[int, int]) -> None:
    """Let in some TCP ports alone, where all were open."""
    close(base, group, peer)
    ec2 = base.boto("ec2")
    rule: dict[str, Any] = {
        "GroupId": group,
        "IpPermissions": [
            {
                "IpProtocol": "tcp",
                "FromPort": first,
                "ToPort": last,
                "UserIdGroupPairs": [{"GroupId": peer}],
            }
            for first, last in ports
        ],
    }
    ec2.authorize_security_group_ingress(**rule)
    base.account.undo.callback(ec2.revoke_security_group_ingress, **rule)


def close_nfs(base: Base) -> None:
    """Leave open what is on both sides of NFS's port, and not that."""
    narrow(base, base.targets, base.jobs, (0, 2048), (2050, 65535))


def close_lustre(base: Base) -> None:
    narrow(base, base.servers, base.jobs, (0, 987), (989, 65535))


# Routes.


def cut_off_from_s3(base: Base, *numbers: int) -> None:
    """Take the endpoint of S3, and the way out, from the route tables of some subnets."""
    lose_endpoint_of_s3(base, *numbers)
    ec2, tables = base.boto("ec2"), [base.tables[number] for number in numbers]
    for found in ec2.describe_route_tables(RouteTableIds=tables)["RouteTables"]:
        (way_out,) = (each for each in found["Routes"] if "NatGatewayId" in each)
        route = {"RouteTableId": found["RouteTableId"], "DestinationCidrBlock": "0.0.0.0/0"}
        ec2.delete_route(**route)
        base.account.undo.callback(ec2.create_route, **route, NatGatewayId=way_out["NatGatewayId"])


def lose_endpoint_of_s3(base: Base, *numbers: int) -> None:
    """Take the endpoint of S3 from route tables, which lead out of the VPC all the same."""
    ec2, tables = base.boto("ec2"), [base.tables[number] for number in numbers]
    ec2.modify_vpc_endpoint(VpcEndpointId=base.endpoint, RemoveRouteTableIds=tables)
    base.account.undo.callback(
        ec2.modify_vpc_endpoint, VpcEndpointId=base.endpoint, AddRouteTableIds=tables
    )


# EFS and FSx.


def delete_mount_target(base: Base, number: int) -> None:
    efs, target = base.boto("efs"), base.mount_targets[number]
    efs.delete_mount_target(MountTargetId=target)

    def again() -> None:
        made = efs.create_mount_target(
            FileSystemId=base.efs, SubnetId=base.subnets[number], SecurityGroups=[base.targets]
        )["MountTargetId"]
        base.mount_targets = tuple(made if each == target else each for each in base.mount_targets)

    base.account.undo.callback(again)


def put_efs_policy(base: Base, *statements: dict[str, Any]) -> None:
    efs = base.boto("efs")
    policy = {
        "Version": "2012-10-17",
        "Statement": [{"Principal": {"AWS": "*"}, "Resource": "*", **each} for each in statements],
    }
    efs.put_file_system_policy(FileSystemId=base.efs, Policy=json.dumps(policy))
    base.account.undo.callback(efs.delete_file_system_policy, FileSystemId=base.efs)


CLIENT = [f"elasticfilesystem:Client{each}" for each in ("Mount", "Write", "RootAccess")]


def demand_tls(base: Base) -> None:
    put_efs_policy(
        base,
        {"Effect": "Allow", "Action": CLIENT},
        {
            "Effect": "Deny",
            "Action": "*",
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    )


def squash_root(base: Base) -> None:
    put_efs_policy(base, {"Effect": "Allow", "Action": CLIENT[:2]})


def efs_is(base: Base, state: str) -> None:
    base.account.says(
        "efs",
        "DescribeFileSystems",
        lambda said: said["FileSystems"][0].update(LifeCycleState=state),
    )


def mount_target_is(base: Base, number: int, state: str) -> None:
    wanted = base.mount_targets[number]

    def change(said: dict[str, Any]) -> None:
        for each in said["MountTargets"]:
            if each["MountTargetId"] == wanted:
                each["LifeCycleState"] = state

    base.account.says("efs", "DescribeMountTargets", change)


def fsx_is(base: Base, state: str) -> None:
    base.account.says(
        "fsx", "DescribeFileSystems", lambda said: said["FileSystems"][0].update(Lifecycle=state)
    )


def link_is(base: Base, state: str, **more: Any) -> None:
    base.account.says(
        "fsx",
        "DescribeDataRepositoryAssociations",
        lambda said: said["Associations"][0].update(Lifecycle=state, **more),
    )


def delete_link(base: Base) -> None:
    base.account.answers_with("fsx", "DescribeDataRepositoryAssociations", {"Associations": []})


# S3 and keys.


def lose(base: Base, *names: str) -> None:
    """Delete files of the training data."""
    for name in names:
        lose_object(base, f"{TRAIN_PATH}/{name}")


def lose_object(base: Base, key: str) -> None:
    s3 = base.boto("s3")
    body = s3.get_object(Bucket=base.bucket, Key=key)["Body"].read()
    s3.delete_object(Bucket=base.bucket, Key=key)
    base.account.undo.callback(s3.put_object, Bucket=base.bucket, Key=key, Body=body)


def put(base: Base, key: str, body: bytes = b"") -> None:
    """Put a file that is not there."""
    s3 = base.boto("s3")
    s3.put_object(Bucket=base.bucket, Key=key, Body=body)
    base.account.undo.callback(s3.delete_object, Bucket=base.bucket, Key=key)


def put_manifest(base: Base, body: bytes) -> None:
    lose(base, "manifest.json")
    put(base, f"{TRAIN_PATH}/manifest.json", body)


def disable_key(base: Base) -> None:
    kms = base.boto("kms")
    kms.disable_key(KeyId=base.key_id)
    base.account.undo.callback(kms.enable_key, KeyId=base.key_id)


def delete_key(base: Base) -> None:
    kms = base.boto("kms")
    kms.schedule_key_deletion(KeyId=base.key_id, PendingWindowInDays=7)
    base.account.undo.callback(kms.enable_key, KeyId=base.key_id)
    base.account.undo.callback(kms.cancel_key_deletion, KeyId=base.key_id)


# EC2.


def offered_in(base: Base, zones: Sequence[str]) -> None:
    """Let EC2 offer every type in these zones alone."""

    def change(said: dict[str, Any]) -> None:
        types = {each["InstanceType"] for each in said["InstanceTypeOfferings"]}
        said["InstanceTypeOfferings"] = [
            {"Location": zone, "InstanceType": name} for zone in zones for name in types
        ]

    base.account.says("ec2", "DescribeInstanceTypeOfferings", change)
