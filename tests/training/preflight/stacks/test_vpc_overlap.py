"""The addresses of a new VPC."""

from __future__ import annotations

from ipaddress import IPv4Network

from tests.training.preflight.stacks.conftest import Network, codes_of, only_finding_of, own
from training.aws.clients import Clients
from training.preflight.stacks.vpc_overlap import VpcAddressesAreFree


def check(aws: Clients, cidr: str, *made: str) -> VpcAddressesAreFree:
    return VpcAddressesAreFree(ec2=aws.ec2, cidr=IPv4Network(cidr), own=own(*made))


def test_addresses_of_its_own_pass(aws: Clients, network: Network) -> None:
    # moto's default VPC is 172.31.0.0/16.
    assert codes_of(check(aws, "172.30.0.0/16")) == []


def test_an_overlap_is_a_warning_that_names_the_other(aws: Clients, network: Network) -> None:
    finding = only_finding_of(check(aws, "10.0.128.0/20"), "vpc-overlaps")
    assert finding.severity == "warning"
    assert f"{network.vpc_id} (10.0.0.0/16)" in finding.message


def test_a_second_block_counts_too(aws: Clients, network: Network) -> None:
    network.ec2.associate_vpc_cidr_block(VpcId=network.vpc_id, CidrBlock="10.7.0.0/16")
    assert codes_of(check(aws, "10.7.0.0/24")) == ["vpc-overlaps"]


def test_the_vpc_of_an_earlier_deploy_does_not_overlap_itself(
    aws: Clients, network: Network
) -> None:
    assert codes_of(check(aws, "10.0.0.0/16", network.vpc_id)) == []
