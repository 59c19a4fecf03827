"""An EFS file system that exists already."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    ZONES,
    Network,
    Stub,
    codes_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.efs import Efs
from training.preflight.efs_policy import EfsPolicyAdmitsJobs
from training.preflight.peers import Members
from training.preflight.stacks.efs import EfsIsFit, MountTargetsAreAsSaid
from training.preflight.stacks.efs_access import MountTargetsAdmitJobs
from training.preflight.stacks.file_system_vpc import JobsVpc


def make(aws: Clients, **options: Any) -> str:
    made = aws.boto("efs").create_file_system(CreationToken="one", **{"Encrypted": True, **options})
    return str(made["FileSystemId"])


def add_targets(aws: Clients, fs_id: str, subnet_ids: Sequence[str], group_id: str) -> None:
    for subnet_id in subnet_ids:
        aws.boto("efs").create_mount_target(
            FileSystemId=fs_id, SubnetId=subnet_id, SecurityGroups=[group_id]
        )


def fit(aws: Clients, fs_id: str) -> EfsIsFit:
    return EfsIsFit(efs=aws.efs, region=REGION, file_system_id=fs_id)


def targets(
    aws: Clients,
    fs_id: str,
    vpc_id: str | None,
    *,
    create: bool,
    zones: Sequence[str] | None = ZONES,
) -> MountTargetsAreAsSaid:
    return MountTargetsAreAsSaid(
        efs=aws.efs,
        cloudformation=aws.cloudformation,
        vpc=JobsVpc(vpc_id, aws.cloudformation),
        file_system_id=fs_id,
        zones=zones,
        are_to_be_made=create,
    )


def deploy(aws: Clients, stack: str, outputs: dict[str, str]) -> None:
    template = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {key: {"Value": value} for key, value in outputs.items()},
    }
    aws.boto("cloudformation").create_stack(StackName=stack, TemplateBody=json.dumps(template))


def test_an_encrypted_file_system_passes(aws: Clients) -> None:
    assert codes_of(fit(aws, make(aws))) == []


def test_one_that_is_not_there_is_an_error_of_one_check_alone(
    aws: Clients, network: Network
) -> None:
    fs_id = "fs-01234567"
    assert codes_of(fit(aws, fs_id)) == ["efs-missing"]
    assert codes_of(targets(aws, fs_id, network.vpc_id, create=True)) == []
    assert codes_of(check_policy(aws.efs, fs_id)) == []


def test_one_that_is_not_encrypted_is_a_warning(aws: Clients) -> None:
    finding = only_finding_of(fit(aws, make(aws, Encrypted=False)), "efs-not-encrypted")
    assert finding.severity == "warning"


def test_one_that_is_being_deleted_is_an_error(stub: Stub) -> None:
    answer = {"FileSystems": [{**FILE_SYSTEM, "LifeCycleState": "deleting", "Encrypted": True}]}
    client = stub("efs", ("describe_file_systems", answer, {"FileSystemId": "fs-1"}))
    check = EfsIsFit(efs=Efs(client), region=REGION, file_system_id="fs-1")
    assert "is deleting" in only_finding_of(check, "efs-not-available").message


FILE_SYSTEM: dict[str, Any] = {
    "OwnerId": "1",
    "CreationToken": "one",
    "FileSystemId": "fs-1",
    "CreationTime": 0,
    "LifeCycleState": "available",
    "NumberOfMountTargets": 0,
    "SizeInBytes": {"Value": 0},
    "PerformanceMode": "generalPurpose",
    "Tags": [],
}


def test_mount_targets_that_are_made_pass_where_there_are_none(
    aws: Clients, network: Network
) -> None:
    assert codes_of(targets(aws, make(aws), network.vpc_id, create=True)) == []


def test_mount_targets_that_are_there_pass_where_they_are_said_to_be(
    aws: Clients, network: Network
) -> None:
    fs_id = make(aws)
    add_targets(aws, fs_id, network.subnet_ids, network.group_id)
    assert codes_of(targets(aws, fs_id, network.vpc_id, create=False)) == []


def test_a_zone_without_mount_target_is_named(aws: Clients, network: Network) -> None:
    fs_id = make(aws)
    add_targets(aws, fs_id, network.subnet_ids[:2], network.group_id)
    check = targets(aws, fs_id, network.vpc_id, create=False)
    finding = only_finding_of(check, "efs-mount-target-missing")
    assert "no mount target in us-east-1c," in finding.message


def test_a_second_mount_target_in_a_zone_cannot_be_made(aws: Clients, network: Network) -> None:
    fs_id = make(aws)
    add_targets(aws, fs_id, network.subnet_ids[1:2], network.group_id)
    check = targets(aws, fs_id, network.vpc_id, create=True)
    finding = only_finding_of(check, "efs-mount-target-exists")
    assert finding.path == "efs_mount_targets"
    assert "mount targets in us-east-1b already" in finding.message
    check = targets(aws, fs_id, network.vpc_id, create=True, zones=["us-east-1a", "us-east-1c"])
    assert codes_of(check) == []


def test_those_that_an_earlier_deploy_made_are_not_in_the_way(
    aws: Clients, network: Network
) -> None:
    fs_id = make(aws)
    add_targets(aws, fs_id, network.subnet_ids, network.group_id)
    deploy(aws, "StorageStack", {"EfsId": fs_id, "EfsMountTargets": "create"})
    assert codes_of(targets(aws, fs_id, network.vpc_id, create=True)) == []


def test_mount_targets_of_another_vpc_say_which_vpc_to_name(aws: Clients, network: Network) -> None:
    fs_id = make(aws)
    add_targets(aws, fs_id, network.subnet_ids, network.group_id)
    finding = only_finding_of(
        targets(aws, fs_id, "vpc-01234567", create=False), "efs-in-another-vpc"
    )
    assert f"Set vpc_id={network.vpc_id}" in finding.message


def test_a_new_vpc_holds_no_mount_target_unless_it_is_deployed_already(
    aws: Clients, network: Network
) -> None:
    fs_id = make(aws)
    add_targets(aws, fs_id, network.subnet_ids, network.group_id)
    check = targets(aws, fs_id, None, create=False, zones=None)
    assert "a new VPC is to be made" in only_finding_of(check, "efs-in-another-vpc").message
    deploy(aws, "NetworkStack", {"VpcId": network.vpc_id})
    assert codes_of(check) == []


def test_a_file_system_of_one_zone_takes_no_mount_target_in_others(
    aws: Clients, network: Network
) -> None:
    fs_id = make(aws, AvailabilityZoneName=ZONES[0])
    check = targets(aws, fs_id, network.vpc_id, create=True)
    finding = only_finding_of(check, "efs-in-one-zone")
    assert "takes no mount target in us-east-1b, us-east-1c" in finding.message


def admits(
    aws: Clients, network: Network, fs_id: str, group_id: str, *, rules_exist: bool = True
) -> MountTargetsAdmitJobs:
    return MountTargetsAdmitJobs(
        ec2=aws.ec2,
        efs=aws.efs,
        file_system_id=fs_id,
        group_id=group_id,
        jobs=Members(network.group_id, network.subnet_ids) if rules_exist else None,
    )


def test_the_port_has_to_be_open_where_the_rules_are_said_to_be_there(
    aws: Clients, network: Network
) -> None:
    fs_id, group_id = make(aws), network.new_group("efs")
    add_targets(aws, fs_id, network.subnet_ids, group_id)
    finding = only_finding_of(admits(aws, network, fs_id, group_id), "efs-port-closed")
    assert finding.path == "efs_security_group_rules"
    assert f"{group_id} does not let {network.group_id} in on TCP port 2049" in finding.message
    assert codes_of(admits(aws, network, fs_id, group_id, rules_exist=False)) == []
    network.allow(group_id, network.group_id, 2049, 2049)
    assert codes_of(admits(aws, network, fs_id, group_id)) == []


@pytest.mark.parametrize(("ports", "protocol"), [((2000, 3000), "tcp"), ((0, 0), "-1")])
def test_a_wider_rule_opens_it_too(
    aws: Clients, network: Network, ports: tuple[int, int], protocol: str
) -> None:
    fs_id, group_id = make(aws), network.new_group("efs")
    network.allow(group_id, network.group_id, *ports, protocol)
    assert codes_of(admits(aws, network, fs_id, group_id)) == []


def test_rules_for_addresses_of_the_whole_vpc_open_it_too(aws: Clients, network: Network) -> None:
    fs_id, group_id = make(aws), network.new_group("efs")
    network.ec2.authorize_security_group_ingress(
        GroupId=group_id, IpProtocol="tcp", FromPort=2049, ToPort=2049, CidrIp="10.0.0.0/16"
    )
    assert codes_of(admits(aws, network, fs_id, group_id)) == []


def test_a_group_that_the_mount_targets_do_not_have_is_an_error(
    aws: Clients, network: Network
) -> None:
    fs_id, used, named = make(aws), network.new_group("used"), network.new_group("named")
    add_targets(aws, fs_id, network.subnet_ids[:1], used)
    check = admits(aws, network, fs_id, named, rules_exist=False)
    finding = only_finding_of(check, "efs-security-group-unused")
    assert f"in us-east-1a has {used}" in finding.message


def test_a_group_that_is_not_there_is_an_error(aws: Clients, network: Network) -> None:
    check = admits(aws, network, make(aws), "sg-01234567")
    assert codes_of(check) == ["efs-security-group-missing"]


def allow(*actions: str, **more: Any) -> dict[str, Any]:
    names = [f"elasticfilesystem:{action}" for action in actions]
    return {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": names, **more}


def deny(condition: dict[str, Any] | None, action: str = "*") -> dict[str, Any]:
    statement = {"Sid": "No", "Effect": "Deny", "Principal": {"AWS": "*"}, "Action": action}
    return statement | ({"Condition": condition} if condition else {})


MOUNT = allow("ClientMount", "ClientWrite", "ClientRootAccess")
VIA_TARGET = {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}


def check_policy(efs: Efs, fs_id: str = "fs-1") -> EfsPolicyAdmitsJobs:
    return EfsPolicyAdmitsJobs(
        efs=efs, file_system_id=fs_id, key="efs_id", alternative="take another file system"
    )


def policy(stub: Stub, *statements: dict[str, Any]) -> EfsPolicyAdmitsJobs:
    request = {"FileSystemId": "fs-1"}
    document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    answer = {"FileSystemId": "fs-1", "Policy": document}
    client = stub(
        "efs",
        ("describe_file_systems", {"FileSystems": [FILE_SYSTEM]}, request),
        ("describe_file_system_policy", answer, request),
    )
    return check_policy(Efs(client))


def test_a_file_system_without_policy_lets_everyone_in(stub: Stub) -> None:
    request = {"FileSystemId": "fs-1"}
    client = stub(
        "efs",
        ("describe_file_systems", {"FileSystems": [FILE_SYSTEM]}, request),
        ("describe_file_system_policy", "PolicyNotFound", request),
    )
    assert codes_of(check_policy(Efs(client))) == []


@pytest.mark.parametrize(
    "statements",
    [
        [MOUNT],
        [{**MOUNT, "Condition": VIA_TARGET}],
        [allow("*")],
        [MOUNT, deny({"Bool": {"aws:SecureTransport": "true"}})],
        [MOUNT, deny(None, "elasticfilesystem:DeleteFileSystem")],
        [MOUNT, deny({"StringNotEquals": {"aws:PrincipalAccount": "1"}})],
        [{**MOUNT, "Condition": {"StringEquals": {"aws:PrincipalAccount": "1"}}}],
    ],
)
def test_a_policy_that_lets_jobs_mount_passes(stub: Stub, statements: list[dict[str, Any]]) -> None:
    assert codes_of(policy(stub, *statements)) == []


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ([allow("ClientWrite")], "lets nobody ClientMount who comes without a role"),
        ([allow("ClientMount")], "lets nobody ClientWrite who comes without a role"),
        (
            [{**MOUNT, "Principal": {"AWS": "arn:aws:iam::1:role/Jobs"}}],
            "lets nobody ClientMount and ClientWrite",
        ),
        (
            [{**MOUNT, "Condition": {"Bool": {"aws:SecureTransport": "true"}}}],
            "lets nobody ClientMount",
        ),
        (
            [{**MOUNT, "Condition": {"StringLike": {"elasticfilesystem:AccessPointArn": "*"}}}],
            "lets nobody ClientMount",
        ),
        ([MOUNT, deny({"Bool": {"aws:SecureTransport": "false"}})], "denies ClientMount to who"),
        ([MOUNT, deny({"BoolIfExists": {"aws:SecureTransport": False}})], "denies ClientMount"),
        ([MOUNT, deny(None, "elasticfilesystem:Client*")], "denies ClientMount to who comes so"),
        (
            [MOUNT, deny({"Null": {"elasticfilesystem:AccessPointArn": "true"}})],
            "comes so (No)",
        ),
    ],
)
def test_a_policy_that_locks_jobs_out_says_why(
    stub: Stub, statements: list[dict[str, Any]], reason: str
) -> None:
    finding = only_finding_of(policy(stub, *statements), "efs-policy-locks-out")
    assert reason in finding.message
    assert "without TLS, access point or role" in finding.message
    assert finding.message.endswith("or take another file system")
    assert finding.path == "efs_id"


def test_a_policy_without_root_for_all_is_a_warning(stub: Stub) -> None:
    finding = only_finding_of(
        policy(stub, allow("ClientMount", "ClientWrite")), "efs-policy-squashes-root"
    )
    assert finding.severity == "warning"
    assert "chmod 1777" in finding.message
