"""Whether the job's subnets lead to S3."""

from __future__ import annotations

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    Network,
    Stub,
    codes_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.ec2 import Ec2
from training.preflight.job.s3_route import SubnetsLeadToS3

SERVICE = f"com.amazonaws.{REGION}.s3"
EVERYWHERE = "0.0.0.0/0"


@pytest.fixture
def check(aws: Clients, network: Network) -> SubnetsLeadToS3:
    return SubnetsLeadToS3(aws.ec2, network.subnet_ids, REGION)


@pytest.fixture
def closed(check: SubnetsLeadToS3, network: Network) -> SubnetsLeadToS3:
    """The same where the subnets' table has no route but its own VPC's."""
    network.ec2.delete_route(RouteTableId=network.route_table_id, DestinationCidrBlock=EVERYWHERE)
    return check


def make_gateway(network: Network, *table_ids: str) -> str:
    made = network.ec2.create_vpc_endpoint(
        VpcId=network.vpc_id,
        ServiceName=SERVICE,
        VpcEndpointType="Gateway",
        RouteTableIds=list(table_ids),
    )
    return str(made["VpcEndpoint"]["VpcEndpointId"])


def test_a_way_over_nat_is_enough(check: SubnetsLeadToS3) -> None:
    assert codes_of(check) == []


def test_a_gateway_endpoint_is_enough(closed: SubnetsLeadToS3, network: Network) -> None:
    make_gateway(network, network.route_table_id)
    assert codes_of(closed) == []


@pytest.mark.parametrize(("private_dns", "codes"), [(True, []), (False, ["s3-route-missing"])])
def test_an_interface_endpoint_is_enough_where_the_name_of_s3_leads_to_it(
    closed: SubnetsLeadToS3, network: Network, *, private_dns: bool, codes: list[str]
) -> None:
    network.ec2.create_vpc_endpoint(
        VpcId=network.vpc_id,
        ServiceName=SERVICE,
        VpcEndpointType="Interface",
        SubnetIds=network.subnet_ids,
        PrivateDnsEnabled=private_dns,
    )
    assert codes_of(closed) == codes


def test_without_any_way_the_message_makes_an_endpoint(
    closed: SubnetsLeadToS3, network: Network
) -> None:
    found = only_finding_of(closed, "s3-route-missing")
    assert found.severity == "error"
    assert found.path == network.subnet_ids[0]
    for subnet_id in network.subnet_ids:
        assert (
            f"{subnet_id}, whose route table {network.route_table_id} has no route to 0.0.0.0/0, "
            "and no endpoint of S3" in found.message
        )
    assert found.message.endswith(
        f"Add one: aws ec2 create-vpc-endpoint --vpc-id {network.vpc_id} --service-name {SERVICE} "
        f"--route-table-ids {network.route_table_id} --region {REGION}"
    )


def test_an_endpoint_on_another_table_is_to_be_put_on_this_one(
    closed: SubnetsLeadToS3, network: Network
) -> None:
    endpoint = make_gateway(network, network.main_table_id)
    assert only_finding_of(closed, "s3-route-missing").message.endswith(
        f"Add one: aws ec2 modify-vpc-endpoint --vpc-endpoint-id {endpoint} "
        f"--add-route-table-ids {network.route_table_id} --region {REGION}"
    )


def test_one_subnet_of_several_is_a_warning(check: SubnetsLeadToS3, network: Network) -> None:
    other = network.ec2.create_route_table(VpcId=network.vpc_id)["RouteTable"]["RouteTableId"]
    tables = network.ec2.describe_route_tables(RouteTableIds=[network.route_table_id])
    (association,) = (
        each["RouteTableAssociationId"]
        for each in tables["RouteTables"][0]["Associations"]
        if each.get("SubnetId") == network.subnet_ids[1]
    )
    network.ec2.replace_route_table_association(AssociationId=association, RouteTableId=other)
    found = only_finding_of(check, "s3-route-missing-in-some")
    assert (found.severity, found.path) == ("warning", network.subnet_ids[1])
    assert network.subnet_ids[0] not in found.message


def test_a_subnet_without_a_table_of_its_own_uses_the_main_one(
    aws: Clients, network: Network
) -> None:
    subnet = network.ec2.create_subnet(VpcId=network.vpc_id, CidrBlock="10.0.20.0/24")["Subnet"]
    check = SubnetsLeadToS3(aws.ec2, [subnet["SubnetId"]], REGION)
    assert network.main_table_id in only_finding_of(check, "s3-route-missing").message
    make_gateway(network, network.main_table_id)
    assert codes_of(check) == []


def test_an_internet_gateway_is_no_way_for_machines_without_public_addresses(
    closed: SubnetsLeadToS3, network: Network
) -> None:
    network.ec2.create_route(
        RouteTableId=network.route_table_id,
        DestinationCidrBlock=EVERYWHERE,
        GatewayId=network.gateway_id,
    )
    message = only_finding_of(closed, "s3-route-missing").message
    assert f"leads to the internet gateway {network.gateway_id} alone" in message


def test_a_subnet_that_is_gone_is_another_checks_finding(aws: Clients, network: Network) -> None:
    assert codes_of(SubnetsLeadToS3(aws.ec2, ["subnet-0123"], REGION)) == []


def test_tables_that_another_account_does_not_tell_are_not_judged(stub: Stub) -> None:
    subnets = {"Subnets": [{"SubnetId": "subnet-1", "VpcId": "vpc-1"}]}
    client = stub(
        "ec2",
        ("describe_subnets", subnets, None),
        ("describe_vpc_endpoints", {"VpcEndpoints": []}, None),
        ("describe_route_tables", {"RouteTables": []}, None),
    )
    assert codes_of(SubnetsLeadToS3(Ec2(client), ["subnet-1"], REGION)) == []


@pytest.mark.parametrize(
    ("route", "codes"),
    [
        # What a gateway endpoint of another account leaves in the table.
        ({"DestinationPrefixListId": "pl-63a5400a", "GatewayId": "vpce-1"}, []),
        ({"DestinationCidrBlock": EVERYWHERE, "TransitGatewayId": "tgw-1"}, []),
        (
            {"DestinationCidrBlock": EVERYWHERE, "NatGatewayId": "nat-1", "State": "blackhole"},
            ["s3-route-missing"],
        ),
        ({"DestinationCidrBlock": "10.0.0.0/8", "TransitGatewayId": "tgw-1"}, ["s3-route-missing"]),
    ],
)
def test_routes_are_judged_by_where_they_end(
    stub: Stub, route: dict[str, str], codes: list[str]
) -> None:
    table = {
        "RouteTableId": "rtb-1",
        "Associations": [{"Main": True}],
        "Routes": [{"State": "active", **route}],
    }
    client = stub(
        "ec2",
        ("describe_subnets", {"Subnets": [{"SubnetId": "subnet-1", "VpcId": "vpc-1"}]}, None),
        ("describe_vpc_endpoints", {"VpcEndpoints": []}, None),
        ("describe_route_tables", {"RouteTables": [table]}, None),
    )
    assert codes_of(SubnetsLeadToS3(Ec2(client), ["subnet-1"], REGION)) == codes
