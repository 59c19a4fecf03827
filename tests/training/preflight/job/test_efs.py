"""EFS as a job would find it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    Network,
    Stub,
    codes_of,
    findings_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.efs import Efs
from training.preflight.job.efs import JobsReachEfs
from training.preflight.peers import Members


def make(aws: Clients) -> str:
    made = aws.boto("efs").create_file_system(CreationToken="one", Encrypted=True)
    return str(made["FileSystemId"])


@pytest.fixture
def targets_group(network: Network) -> str:
    return network.new_group("targets")


def check(
    aws: Clients, network: Network, targets_group: str, *, targets_in: int, open_port: bool = True
) -> JobsReachEfs:
    """Return the check of a file system that has mount targets in so many of three subnets."""
    fs_id = make(aws)
    for subnet_id in network.subnet_ids[:targets_in]:
        aws.boto("efs").create_mount_target(
            FileSystemId=fs_id, SubnetId=subnet_id, SecurityGroups=[targets_group]
        )
    if open_port:
        network.allow(targets_group, network.group_id, 2049, 2049)
    jobs = Members(network.group_id, network.subnet_ids)
    return JobsReachEfs(aws.ec2, aws.efs, fs_id, jobs)


def test_a_mount_target_in_every_zone_with_its_port_open_passes(
    aws: Clients, network: Network, targets_group: str
) -> None:
    assert codes_of(check(aws, network, targets_group, targets_in=3)) == []


def test_a_subnet_in_a_zone_without_mount_target_is_an_error(
    aws: Clients, network: Network, targets_group: str
) -> None:
    one_less = check(aws, network, targets_group, targets_in=2)
    finding = only_finding_of(one_less, "efs-mount-target-missing")
    assert "no mount target in us-east-1c, where the job's subnet" in finding.message
    assert "(it has them in: us-east-1a, us-east-1b)" in finding.message
    assert f"--subnet-id {network.subnet_ids[2]}" in finding.message


def test_a_closed_port_into_the_mount_targets_is_an_error_for_each_zone(
    aws: Clients, network: Network, targets_group: str
) -> None:
    closed = check(aws, network, targets_group, targets_in=3, open_port=False)
    found = findings_of(closed)
    assert [each.code for each in found] == ["efs-port-closed"] * 3
    assert f"TCP port 2049 is closed into {targets_group}: jobs in" in found[0].message


def test_a_closed_port_out_of_the_job_is_an_error(
    aws: Clients, network: Network, targets_group: str
) -> None:
    network.ec2.revoke_security_group_egress(
        GroupId=network.group_id,
        IpPermissions=[{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}],
    )
    closed = check(aws, network, targets_group, targets_in=3)
    assert f"is closed out of {network.group_id}" in findings_of(closed)[0].message
    network.allow_out(network.group_id, targets_group, 2049, 2049)
    assert codes_of(closed) == []


def test_one_that_is_not_there_is_an_error(aws: Clients, network: Network) -> None:
    jobs = Members(network.group_id, network.subnet_ids)
    gone = JobsReachEfs(aws.ec2, aws.efs, "fs-0123456789abcdef0", jobs)
    assert codes_of(gone) == ["efs-missing"]


def file_system(state: str) -> dict[str, Any]:
    return {
        "OwnerId": "1",
        "CreationToken": "one",
        "FileSystemId": "fs-1",
        "CreationTime": 0,
        "LifeCycleState": state,
        "NumberOfMountTargets": 0,
        "SizeInBytes": {"Value": 0},
        "PerformanceMode": "generalPurpose",
        "Tags": [],
    }


def test_what_is_being_made_or_deleted_is_an_error(
    aws: Clients, network: Network, stub: Stub
) -> None:
    target = {
        "MountTargetId": "fsmt-0123456789",
        "FileSystemId": "fs-1",
        "SubnetId": network.subnet_ids[0],
        "LifeCycleState": "creating",
        "AvailabilityZoneName": "us-east-1a",
    }
    group = network.new_group("targets")
    network.allow(group, network.group_id, 2049, 2049)
    client = stub(
        "efs",
        (
            "describe_file_systems",
            {"FileSystems": [file_system("deleting")]},
            {"FileSystemId": "fs-1"},
        ),
        ("describe_mount_targets", {"MountTargets": [target]}, {"FileSystemId": "fs-1"}),
        (
            "describe_mount_target_security_groups",
            {"SecurityGroups": [group]},
            {"MountTargetId": "fsmt-0123456789"},
        ),
    )
    jobs = Members(network.group_id, network.subnet_ids[:1])
    found = findings_of(JobsReachEfs(aws.ec2, Efs(client), "fs-1", jobs))
    assert [each.code for each in found] == [
        "efs-not-available",
        "efs-mount-target-not-available",
    ]
    assert "in us-east-1a is creating" in found[1].message
