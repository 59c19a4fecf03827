"""Key pair, SSH, services, mount targets and group names of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    Network,
    Stub,
    codes_of,
    only_finding_of,
    own,
)
from training.aws.autoscaling import AutoScaling
from training.aws.clients import Clients
from training.aws.efs import Efs
from training.preflight.stacks.group_names import GroupNamesAreFree
from training.preflight.stacks.key_pair import KeyPairIsThere
from training.preflight.stacks.node_network import (
    NodesCanMountEfs,
    NodesReachServices,
    PlacementIsOfOneType,
    SshIsNarrow,
)


def test_a_key_pair_that_is_there_passes_and_another_does_not(aws: Clients) -> None:
    aws.boto("ec2").create_key_pair(KeyName="mine")
    assert codes_of(KeyPairIsThere(ec2=aws.ec2, region=REGION, name="mine")) == []
    check = KeyPairIsThere(ec2=aws.ec2, region=REGION, name="mien")
    finding = only_finding_of(check, "cluster-key-pair-missing")
    assert finding.severity == "error"
    assert "cluster_key_name is mien, and us-east-1 has no key pair of that name" in finding.message
    assert "aws ec2 import-key-pair" in finding.message


@pytest.mark.parametrize(
    ("networks", "codes"), [([], []), (["0.0.0.0/0", "::/0"], ["cluster-ssh-open"])]
)
def test_ssh_that_is_open_to_all_is_a_warning(networks: list[str], codes: list[str]) -> None:
    check = SshIsNarrow(networks=networks)
    assert codes_of(check) == codes
    if codes:
        finding = only_finding_of(check, "cluster-ssh-open")
        assert (finding.severity, finding.path) == ("warning", "cluster_ssh_location")
        assert "opens port 22 of the head to 0.0.0.0/0, ::/0" in finding.message


def test_a_placement_group_of_several_types_is_a_warning() -> None:
    assert codes_of(PlacementIsOfOneType(types=("p4d.24xlarge", "p4d.24xlarge"))) == []
    check = PlacementIsOfOneType(types=("p4d.24xlarge", "p5.48xlarge"))
    finding = only_finding_of(check, "cluster-placement-of-several-types")
    assert finding.severity == "warning"
    assert "holds p4d.24xlarge and p5.48xlarge" in finding.message


def test_nodes_without_internet_need_their_endpoints(aws: Clients, network: Network) -> None:
    def check(vpc_id: str | None, *made: str) -> NodesReachServices:
        needed = ("autoscaling", "logs", "ssm")
        return NodesReachServices(ec2=aws.ec2, vpc_id=vpc_id, made=made, needed=needed)

    assert codes_of(check(None, "ssm", "logs", "autoscaling")) == []
    finding = only_finding_of(check(None, "logs"), "cluster-endpoint-missing")
    assert "need endpoints for autoscaling, ssm" in finding.message
    assert "set interface_endpoints=logs,autoscaling,ssm" in finding.message
    for service in ("ssm", "autoscaling"):
        network.ec2.create_vpc_endpoint(
            VpcId=network.vpc_id,
            ServiceName=f"com.amazonaws.{REGION}.{service}",
            VpcEndpointType="Interface",
        )
    assert codes_of(check(network.vpc_id, "logs")) == []


def efs(stub: Stub, *zones: str) -> Efs:
    targets = [
        {
            "MountTargetId": f"fsmt-{zone}",
            "FileSystemId": "fs-0123456789abcdef0",
            "SubnetId": "subnet-0123456789abcdef0",
            "LifeCycleState": "available",
            "AvailabilityZoneName": zone,
        }
        for zone in zones
    ]
    asked = {"FileSystemId": "fs-0123456789abcdef0"}
    return Efs(stub("efs", ("describe_mount_targets", {"MountTargets": targets}, asked)))


def mounts(efs: Efs, head_zone: str, *, existing: bool = True) -> NodesCanMountEfs:
    return NodesCanMountEfs(
        efs=efs,
        file_system_id="fs-0123456789abcdef0" if existing else None,
        private_zones=("us-east-1a", "us-east-1b"),
        head_zone=head_zone,
        worker_zone="us-east-1a",
    )


def test_every_node_has_a_mount_target_in_its_zone(stub: Stub) -> None:
    assert codes_of(mounts(efs(stub, "us-east-1a", "us-east-1c"), "us-east-1c")) == []
    finding = only_finding_of(
        mounts(efs(stub, "us-east-1b"), "us-east-1b"), "cluster-zone-without-mount-target"
    )
    assert finding.path == "cluster_zone"
    assert "the workers of ClusterStack is to be in us-east-1a" not in finding.message
    assert "the workers of ClusterStack are to be in us-east-1a" in finding.message


def test_a_public_subnet_in_a_zone_of_its_own_has_no_mount_target(stub: Stub) -> None:
    unasked = Efs(stub("efs"))
    assert codes_of(mounts(unasked, "us-east-1b", existing=False)) == []
    finding = only_finding_of(
        mounts(unasked, "us-east-1d", existing=False), "cluster-zone-without-mount-target"
    )
    assert finding.path == "public_subnets"
    assert "the head of ClusterStack is to be in us-east-1d, where EFS has no" in finding.message


def groups(stub: Stub, *names: str) -> AutoScaling:
    found: list[dict[str, Any]] = [
        {
            "AutoScalingGroupName": name,
            "MinSize": 0,
            "MaxSize": 1,
            "DesiredCapacity": 0,
            "DefaultCooldown": 300,
            "AvailabilityZones": ["us-east-1a"],
            "HealthCheckType": "EC2",
            "CreatedTime": 0,
        }
        for name in names
    ]
    asked = {"AutoScalingGroupNames": ["a-head", "a-workers"]}
    call = ("describe_auto_scaling_groups", {"AutoScalingGroups": found}, asked)
    return AutoScaling(stub("autoscaling", call))


@pytest.mark.parametrize(
    ("there", "made", "codes"),
    [
        ((), (), []),
        (("a-head", "a-workers"), ("a-head", "a-workers"), []),
        (("a-workers",), (), ["cluster-name-taken"]),
    ],
)
def test_names_of_groups_of_others_are_taken(
    stub: Stub, there: tuple[str, ...], made: tuple[str, ...], codes: list[str]
) -> None:
    check = GroupNamesAreFree(
        autoscaling=groups(stub, *there),
        region=REGION,
        names=("a-head", "a-workers"),
        own=own(*made, stack="ClusterStack"),
    )
    assert codes_of(check) == codes
