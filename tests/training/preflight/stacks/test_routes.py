"""Route tables of subnets that exist already."""

from __future__ import annotations

from typing import Any

from tests.training.preflight.stacks.conftest import ZONES, Network, codes_of, only_finding_of
from tests.training.preflight.stacks.test_subnets import named
from training.aws.clients import Clients
from training.preflight.stacks.routes import RoutesLeadWhereSaid
from training.preflight.stacks.subnet import NamedSubnet


def check(
    aws: Clients,
    network: Network,
    *,
    public: str | None = None,
    internet_access: bool = True,
    **changes: Any,
) -> RoutesLeadWhereSaid:
    return RoutesLeadWhereSaid(
        ec2=aws.ec2,
        vpc_id=network.vpc_id,
        private=named(network, **changes),
        public=[NamedSubnet(public, ZONES[0], None, "public_subnets")] if public else [],
        internet_access=internet_access,
    )


def without_way_out(network: Network) -> None:
    network.ec2.delete_route(RouteTableId=network.route_table_id, DestinationCidrBlock="0.0.0.0/0")


def to_gateway(network: Network, table_id: str) -> None:
    network.ec2.create_route(
        RouteTableId=table_id, DestinationCidrBlock="0.0.0.0/0", GatewayId=network.gateway_id
    )


def test_the_tables_in_use_with_a_way_out_pass(aws: Clients, network: Network) -> None:
    assert codes_of(check(aws, network)) == []
    assert codes_of(check(aws, network, route_table_id=None)) == []


def test_another_table_than_the_one_in_use_is_an_error(aws: Clients, network: Network) -> None:
    finding = only_finding_of(
        check(aws, network, route_table_id=network.main_table_id), "route-table-differs"
    )
    assert f"but it uses {network.route_table_id}. Write that there" in finding.message


def test_a_table_that_is_not_there_says_which_is_in_use(aws: Clients, network: Network) -> None:
    finding = only_finding_of(
        check(aws, network, route_table_id="rtb-01234567"), "route-table-missing"
    )
    assert f"uses {network.route_table_id}" in finding.message


def test_a_subnet_without_a_table_of_its_own_uses_the_main_one(
    aws: Clients, network: Network
) -> None:
    tables = network.ec2.describe_route_tables(RouteTableIds=[network.route_table_id])
    association = next(
        found["RouteTableAssociationId"]
        for found in tables["RouteTables"][0]["Associations"]
        if found.get("SubnetId") == network.subnet_ids[0]
    )
    network.ec2.disassociate_route_table(AssociationId=association)
    network.ec2.create_route(
        RouteTableId=network.main_table_id,
        DestinationCidrBlock="0.0.0.0/0",
        NatGatewayId=network.nat_id,
    )
    finding = only_finding_of(check(aws, network), "route-table-differs")
    assert f"it uses {network.main_table_id}, the main one" in finding.message


def test_no_way_out_is_an_error_for_each_subnet(aws: Clients, network: Network) -> None:
    without_way_out(network)
    findings = list(check(aws, network).find())
    assert [finding.code for finding in findings] == ["subnet-without-internet"] * 3
    assert "internet_access=false" in findings[0].message


def test_no_way_out_passes_where_none_is_wanted(aws: Clients, network: Network) -> None:
    without_way_out(network)
    assert codes_of(check(aws, network, internet_access=False)) == []


def test_a_way_out_where_none_is_wanted_is_a_warning(aws: Clients, network: Network) -> None:
    codes = codes_of(check(aws, network, internet_access=False))
    assert codes == ["subnet-has-internet"] * 3


def test_private_subnets_that_lead_to_an_internet_gateway_are_public(
    aws: Clients, network: Network
) -> None:
    without_way_out(network)
    to_gateway(network, network.route_table_id)
    findings = list(check(aws, network).find())
    assert {(finding.code, finding.severity) for finding in findings} == {
        ("subnet-is-public", "warning")
    }
    assert network.gateway_id in findings[0].message


def test_public_subnets_need_an_internet_gateway(aws: Clients, network: Network) -> None:
    public = network.ec2.create_subnet(VpcId=network.vpc_id, CidrBlock="10.0.8.0/24")
    public_id = public["Subnet"]["SubnetId"]
    finding = only_finding_of(check(aws, network, public=public_id), "subnet-is-not-public")
    assert finding.path == "public_subnets"
    to_gateway(network, network.main_table_id)
    assert codes_of(check(aws, network, public=public_id)) == []


def test_a_subnet_that_is_not_there_has_no_routes_to_judge(aws: Clients, network: Network) -> None:
    without_way_out(network)
    codes = codes_of(check(aws, network, subnet_id="subnet-01234567"))
    assert codes == ["subnet-without-internet"] * 2
