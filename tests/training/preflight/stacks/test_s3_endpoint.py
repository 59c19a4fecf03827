"""S3's gateway endpoint in a VPC that exists already."""

from __future__ import annotations

from typing import Any

from tests.training.preflight.stacks.conftest import REGION, Network, codes_of, only_finding_of
from tests.training.preflight.stacks.test_subnets import named
from training.aws.clients import Clients
from training.preflight.stacks.s3_endpoint import S3EndpointIsAsSaid


def check(aws: Clients, network: Network, *, create: bool, **changes: Any) -> S3EndpointIsAsSaid:
    return S3EndpointIsAsSaid(
        ec2=aws.ec2,
        vpc_id=network.vpc_id,
        subnets=named(network, **changes),
        is_to_be_made=create,
        own_stack="NetworkStack",
    )


def make(network: Network, table_id: str | None = None, stack: str | None = None) -> str:
    tags = [{"Key": "aws:cloudformation:stack-name", "Value": stack}] if stack else []
    made = network.ec2.create_vpc_endpoint(
        VpcId=network.vpc_id,
        ServiceName=f"com.amazonaws.{REGION}.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[table_id or network.route_table_id],
        TagSpecifications=[{"ResourceType": "vpc-endpoint", "Tags": tags}] if tags else [],
    )
    return str(made["VpcEndpoint"]["VpcEndpointId"])


def test_none_passes_where_one_is_made_and_is_missed_where_not(
    aws: Clients, network: Network
) -> None:
    assert codes_of(check(aws, network, create=True)) == []
    finding = only_finding_of(check(aws, network, create=False), "s3-endpoint-missing")
    assert network.route_table_id in finding.message


def test_one_on_the_table_passes_where_it_is_said_and_is_in_the_way_where_not(
    aws: Clients, network: Network
) -> None:
    endpoint_id = make(network)
    assert codes_of(check(aws, network, create=False)) == []
    finding = only_finding_of(check(aws, network, create=True), "s3-endpoint-exists")
    assert endpoint_id in finding.message
    assert "Set s3_endpoint=existing" in finding.message


def test_one_on_another_table_is_neither_in_the_way_nor_of_use(
    aws: Clients, network: Network
) -> None:
    make(network, network.main_table_id)
    assert codes_of(check(aws, network, create=True)) == []
    assert codes_of(check(aws, network, create=False)) == ["s3-endpoint-missing"]


def test_each_table_needs_one(aws: Clients, network: Network) -> None:
    make(network)
    changed = check(aws, network, create=False, route_table_id=network.main_table_id)
    finding = only_finding_of(changed, "s3-endpoint-missing")
    assert network.main_table_id in finding.message


def test_the_one_of_an_earlier_deploy_is_not_in_the_way(aws: Clients, network: Network) -> None:
    make(network, stack="NetworkStack")
    assert codes_of(check(aws, network, create=True)) == []
    make(network, stack="AnotherStack")
    assert codes_of(check(aws, network, create=True)) == ["s3-endpoint-exists"]
