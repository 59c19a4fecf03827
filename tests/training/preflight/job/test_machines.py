"""The instances of a job: their type, their addresses, and their security group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    Network,
    Stub,
    codes_of,
    findings_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.ec2 import Ec2
from training.preflight.job.group import InstancesReachEachOther
from training.preflight.job.instance_type import TypeIsOffered
from training.preflight.job.subnets import SubnetsHaveAddresses


def offered(stub: Stub, zones: tuple[str, ...], *subnet_zones: str) -> TypeIsOffered:
    """Return the check of a type that EC2 offers in some zones, for subnets in others."""
    offers = [{"Location": zone} for zone in zones]
    calls: list[Any] = [
        (
            "describe_instance_type_offerings",
            {"InstanceTypeOfferings": offers},
            {
                "LocationType": "availability-zone",
                "Filters": [{"Name": "instance-type", "Values": ["p3.16xlarge"]}],
            },
        )
    ]
    ids = [f"subnet-{number}" for number, _ in enumerate(subnet_zones)]
    if zones:
        subnets = [
            {"SubnetId": name, "AvailabilityZone": zone}
            for name, zone in zip(ids, subnet_zones, strict=True)
        ]
        request = {"Filters": [{"Name": "subnet-id", "Values": ids}]}
        calls.append(("describe_subnets", {"Subnets": subnets}, request))
    return TypeIsOffered(Ec2(stub("ec2", *calls)), "ml.p3.16xlarge", ids, REGION)


def test_a_type_that_every_zone_has_passes(stub: Stub) -> None:
    assert codes_of(offered(stub, ("us-east-1a", "us-east-1b"), "us-east-1b", "us-east-1a")) == []


def test_a_type_that_the_region_lacks_is_no_question_of_quota(stub: Stub) -> None:
    finding = only_finding_of(offered(stub, (), "us-east-1a"), "instance-type-not-in-region")
    assert finding.message == (
        "ml.p3.16xlarge is not in us-east-1: no zone of it has the type. Choose another type, or "
        "another region"
    )
    assert finding.severity == "error"


def test_a_type_that_other_zones_have_is_an_error_with_these(stub: Stub) -> None:
    elsewhere = offered(stub, ("us-east-1d", "us-east-1c"), "us-east-1b", "us-east-1a")
    finding = only_finding_of(elsewhere, "instance-type-not-in-zones")
    assert "(us-east-1a, us-east-1b; it is in us-east-1c, us-east-1d)" in finding.message


def test_where_fsx_decides_the_zone_its_setting_is_named(stub: Stub) -> None:
    elsewhere = replace(offered(stub, ("us-east-1c",), "us-east-1a"), is_bound=True)
    message = only_finding_of(elsewhere, "instance-type-not-in-zones").message
    assert "(us-east-1a; it is in us-east-1c). The job runs in the zone of FSx for " in message
    assert "(fsx_zone, the number of its subnet)" in message
    assert "make subnets" not in message


def test_a_type_that_some_zones_have_is_worth_knowing(stub: Stub) -> None:
    some = offered(stub, ("us-east-1a",), "us-east-1a", "us-east-1b")
    finding = only_finding_of(some, "instance-type-not-in-some-zones")
    assert finding.severity == "info"
    assert "is not in us-east-1b; it is in us-east-1a" in finding.message


def addresses(aws: Clients, subnet_ids: list[str], instances: int) -> SubnetsHaveAddresses:
    return SubnetsHaveAddresses(aws.ec2, subnet_ids, instances, addresses_each=5)


@pytest.fixture
def small(aws: Clients, network: Network) -> str:
    """A subnet of 16 addresses, of which AWS takes 5."""
    made = aws.boto("ec2").create_subnet(VpcId=network.vpc_id, CidrBlock="10.0.8.0/28")
    return str(made["Subnet"]["SubnetId"])


def test_what_fits_exactly_passes_and_one_instance_more_does_not(aws: Clients, small: str) -> None:
    assert codes_of(addresses(aws, [small], 2)) == []  # 10 of 11
    finding = only_finding_of(addresses(aws, [small], 3), "subnets-full")
    assert finding.message == (
        "3 instances take 15 private addresses of one subnet (5 each); free are fewer: "
        f"{small} has 11. Take fewer instances, free some addresses, or make larger subnets"
    )


def test_one_roomy_subnet_is_enough_but_the_other_may_be_chosen(
    aws: Clients, network: Network, small: str
) -> None:
    both = addresses(aws, [small, network.subnet_ids[0]], 3)
    assert only_finding_of(both, "subnet-full").severity == "warning"


def test_a_subnet_that_is_not_there_is_named(aws: Clients, network: Network) -> None:
    gone = addresses(aws, ["subnet-0123456789", network.subnet_ids[0]], 1)
    assert only_finding_of(gone, "subnet-missing").path == "subnet-0123456789"
    # With none there, nothing is said of room.
    assert codes_of(addresses(aws, ["subnet-0123456789"], 1)) == ["subnet-missing"]


def group(
    aws: Clients, network: Network, *, instances: int = 2, has_efa: bool = False
) -> InstancesReachEachOther:
    return InstancesReachEachOther(aws.ec2, network.group_id, instances, has_efa=has_efa)


def test_members_that_may_not_enter_are_an_error_where_there_are_several(
    aws: Clients, network: Network
) -> None:
    finding = only_finding_of(group(aws, network), "job-group-closed")
    assert "the 2 instances of the job talk to each other on any" in finding.message
    assert f"authorize-security-group-ingress --group-id {network.group_id}" in finding.message
    assert codes_of(group(aws, network, instances=1)) == []


def test_efa_wants_the_group_named_both_ways(aws: Clients, network: Network) -> None:
    network.allow(network.group_id, network.group_id, 0, 0, protocol="-1")
    # A new group lets everything out, to all addresses.
    assert codes_of(group(aws, network)) == []
    assert codes_of(group(aws, network, has_efa=True)) == ["job-group-without-efa"]
    network.ec2.authorize_security_group_egress(
        GroupId=network.group_id,
        IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": network.group_id}]}],
    )
    assert codes_of(group(aws, network, has_efa=True)) == []


def test_a_group_that_is_not_there_is_named(aws: Clients) -> None:
    [finding] = findings_of(InstancesReachEachOther(aws.ec2, "sg-0123456789", 2, has_efa=True))
    assert (finding.code, finding.path) == ("job-group-missing", "sg-0123456789")
