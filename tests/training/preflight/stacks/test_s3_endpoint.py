"""S3's gateway endpoint in a VPC that exists already."""

from __future__ import annotations

from typing import Any

from tests.training.preflight.stacks.conftest import REGION, Network, codes_of, only_finding_of, own
from tests.training.preflight.stacks.test_subnets import named
from training.aws.clients import Clients
from training.preflight.stacks.s3_endpoint import S3EndpointIsAsSaid


def check(
    aws: Clients, network: Network, *made: str, create: bool, **changes: Any
) -> S3EndpointIsAsSaid:
    return S3EndpointIsAsSaid(
        ec2=aws.ec2,
        vpc_id=network.vpc_id,
        subnets=named(network, **changes),
        is_to_be_made=create,
        own=own(*made),
    )


def make(network: Network, table_id: str | None = None) -> str:
    made = network.ec2.create_vpc_endpoint(
        VpcId=network.vpc_id,
        ServiceName=f"com.amazonaws.{REGION}.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[table_id or network.route_table_id],
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
    mine = make(network)
    assert codes_of(check(aws, network, mine, create=True)) == []
    other = make(network)
    finding = only_finding_of(check(aws, network, mine, create=True), "s3-endpoint-exists")
    assert other in finding.message
    assert mine not in finding.message


def test_the_one_of_an_earlier_deploy_is_not_there_to_stay(aws: Clients, network: Network) -> None:
    mine = make(network)
    changed = check(aws, network, mine, create=False)
    finding = only_finding_of(changed, "s3-endpoint-is-our-own")
    assert f"{mine}, through which the route table {network.route_table_id} leads" in (
        finding.message
    )
    assert finding.message.endswith("the deploy would delete it. Set s3_endpoint=create")


def test_several_tables_are_one_finding(aws: Clients, network: Network) -> None:
    subnets = [*named(network), *named(network, route_table_id=network.main_table_id)]
    both = [
        S3EndpointIsAsSaid(aws.ec2, network.vpc_id, subnets, way, own()) for way in (True, False)
    ]
    tables = f"the route tables {network.route_table_id}, {network.main_table_id}"
    assert tables in only_finding_of(both[1], "s3-endpoint-missing").message
    make(network)
    make(network, network.main_table_id)
    assert f"each of {tables} leads" in only_finding_of(both[0], "s3-endpoint-exists").message
