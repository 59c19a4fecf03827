"""Subnets that exist already."""

from __future__ import annotations

from typing import Any

from tests.training.preflight.stacks.conftest import ZONES, Network, codes_of, only_finding_of
from training.aws.clients import Clients
from training.preflight.stacks.subnet import NamedSubnet
from training.preflight.stacks.subnets import SubnetsAreWhereSaid


def named(network: Network, **changes: Any) -> list[NamedSubnet]:
    """Return the private subnets as they are; `changes` are made to the first."""
    subnets = [
        NamedSubnet(subnet_id, zone, network.route_table_id, "private_subnets")
        for subnet_id, zone in zip(network.subnet_ids, ZONES, strict=True)
    ]
    first = {**vars(subnets[0]), **changes}
    return [NamedSubnet(**first), *subnets[1:]]


def check(aws: Clients, network: Network, **changes: Any) -> SubnetsAreWhereSaid:
    return SubnetsAreWhereSaid(
        ec2=aws.ec2, vpc_id=network.vpc_id, subnets=named(network, **changes)
    )


def test_subnets_where_they_are_said_to_be_pass(aws: Clients, network: Network) -> None:
    assert codes_of(check(aws, network)) == []


def test_a_subnet_that_is_not_there_is_named_and_the_others_are_judged(
    aws: Clients, network: Network
) -> None:
    finding = only_finding_of(check(aws, network, subnet_id="subnet-01234567"), "subnet-missing")
    assert finding.path == "private_subnets"
    assert "names subnet-01234567" in finding.message


def test_a_subnet_of_another_vpc_is_an_error(aws: Clients, network: Network) -> None:
    other = network.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    stranger = network.ec2.create_subnet(
        VpcId=other, CidrBlock="10.1.0.0/24", AvailabilityZone=ZONES[0]
    )["Subnet"]["SubnetId"]
    finding = only_finding_of(check(aws, network, subnet_id=stranger), "subnet-in-another-vpc")
    assert other in finding.message
    assert network.vpc_id in finding.message


def test_a_subnet_in_another_zone_says_which(aws: Clients, network: Network) -> None:
    finding = only_finding_of(check(aws, network, zone="us-east-1f"), "subnet-in-another-zone")
    assert finding.message.endswith("it is in us-east-1a. Write us-east-1a there")
