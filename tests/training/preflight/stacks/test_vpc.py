"""A VPC that exists already."""

from __future__ import annotations

from tests.training.preflight.stacks.conftest import REGION, Network, codes_of, only_finding_of
from training.aws.clients import Clients
from training.preflight.stacks.vpc import VpcIsFit


def check(aws: Clients, vpc_id: str) -> VpcIsFit:
    return VpcIsFit(ec2=aws.ec2, region=REGION, vpc_id=vpc_id)


def test_a_vpc_with_names_passes(aws: Clients, network: Network) -> None:
    assert codes_of(check(aws, network.vpc_id)) == []


def test_one_that_is_not_there_is_an_error(aws: Clients) -> None:
    finding = only_finding_of(check(aws, "vpc-01234567"), "vpc-missing")
    assert finding.path == "vpc_id"
    assert "no such VPC in us-east-1" in finding.message


def test_names_that_are_off_are_switched_on_by_the_command_given(
    aws: Clients, network: Network
) -> None:
    network.ec2.modify_vpc_attribute(VpcId=network.vpc_id, EnableDnsHostnames={"Value": False})
    finding = only_finding_of(check(aws, network.vpc_id), "vpc-without-dns")
    assert "enableDnsHostnames off" in finding.message
    assert f"--vpc-id {network.vpc_id} --enable-dns-hostnames" in finding.message
    network.ec2.modify_vpc_attribute(VpcId=network.vpc_id, EnableDnsSupport={"Value": False})
    assert "--enable-dns-support and aws ec2" in next(check(aws, network.vpc_id).find()).message


def test_a_vpc_on_hardware_of_its_own_is_an_error(aws: Clients, network: Network) -> None:
    made = network.ec2.create_vpc(CidrBlock="10.1.0.0/16", InstanceTenancy="dedicated")
    vpc_id = made["Vpc"]["VpcId"]
    network.ec2.modify_vpc_attribute(VpcId=vpc_id, EnableDnsHostnames={"Value": True})
    assert codes_of(check(aws, vpc_id)) == ["vpc-of-dedicated-tenancy"]
