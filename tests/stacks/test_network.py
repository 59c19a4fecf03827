"""What NetworkStack is made of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stacks.matrix import Synthesize, Template, properties, resources


@pytest.fixture
def network(synth: Synthesize) -> Template:
    return synth("default").templates["NetworkStack"]


def test_one_public_and_three_private_subnets_in_three_zones_without_account_and_region(
    network: Template,
) -> None:
    private = subnets(network, "internal-elb")
    assert [each["AvailabilityZone"] for each in private] == [
        {"Fn::Select": [index, {"Fn::GetAZs": ""}]} for index in range(3)
    ]
    [public] = subnets(network, "elb")
    assert public["AvailabilityZone"] == private[0]["AvailabilityZone"]
    assert len(properties(network, "AWS::EC2::Subnet")) == 4


def test_zones_may_be_named(synth: Synthesize) -> None:
    template = synth("everything-set").templates["NetworkStack"]
    private = subnets(template, "internal-elb")
    assert [each["AvailabilityZone"] for each in private] == [
        "us-west-2a",
        "us-west-2b",
        "us-west-2d",
    ]


@pytest.mark.parametrize(
    ("row", "public_cidr", "private_cidrs"),
    [
        ("default", "172.30.0.0/18", ["172.30.64.0/18", "172.30.128.0/18", "172.30.192.0/18"]),
        ("old-addresses", "172.30.0.0/27", ["172.30.0.32/27", "172.30.0.64/27", "172.30.0.96/27"]),
        ("everything-set", "10.8.0.0/28", ["10.8.4.0/22", "10.8.8.0/22", "10.8.12.0/22"]),
    ],
)
def test_addresses_follow_the_settings(
    row: str, public_cidr: str, private_cidrs: list[str], synth: Synthesize
) -> None:
    template = synth(row).templates["NetworkStack"]
    assert [each["CidrBlock"] for each in subnets(template, "elb")] == [public_cidr]
    assert [each["CidrBlock"] for each in subnets(template, "internal-elb")] == private_cidrs


def test_private_subnets_leave_through_the_one_nat_gateway_in_the_public_subnet(
    network: Template,
) -> None:
    [(nat_id, nat)] = resources(network, "AWS::EC2::NatGateway").items()
    [public_id] = [
        logical_id
        for logical_id, subnet in resources(network, "AWS::EC2::Subnet").items()
        if has_tag(subnet["Properties"], "kubernetes.io/role/elb")
    ]
    assert nat["Properties"]["SubnetId"] == {"Ref": public_id}
    through_nat = {
        route["RouteTableId"]["Ref"]
        for route in properties(network, "AWS::EC2::Route")
        if route.get("NatGatewayId") == {"Ref": nat_id}
    }
    assert through_nat == private_route_tables(network)


def test_without_nat_gateway_the_public_subnet_alone_has_a_default_route(
    synth: Synthesize,
) -> None:
    template = synth("no-nat").templates["NetworkStack"]
    assert resources(template, "AWS::EC2::NatGateway") == {}
    assert resources(template, "AWS::EC2::EIP") == {}
    [route] = properties(template, "AWS::EC2::Route")
    assert route["RouteTableId"]["Ref"] not in private_route_tables(template)
    assert "GatewayId" in route


def test_no_subnet_gives_out_public_addresses(network: Template) -> None:
    for subnet in properties(network, "AWS::EC2::Subnet"):
        assert not subnet.get("MapPublicIpOnLaunch", False)


def test_s3_endpoint_serves_every_private_subnet(network: Template) -> None:
    [endpoint] = properties(network, "AWS::EC2::VPCEndpoint")
    assert endpoint["VpcEndpointType"] == "Gateway"
    assert {each["Ref"] for each in endpoint["RouteTableIds"]} == private_route_tables(network)


def test_s3_endpoint_writes_to_buckets_of_this_account_only(network: Template) -> None:
    [endpoint] = properties(network, "AWS::EC2::VPCEndpoint")
    writes = [
        statement
        for statement in endpoint["PolicyDocument"]["Statement"]
        if "s3:PutObject" in statement["Action"]
    ]
    assert [each["Condition"] for each in writes] == [
        {"StringEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}
    ]


def test_training_group_talks_to_itself_on_every_port_both_ways_as_efa_asks(
    network: Template,
) -> None:
    [group_id] = resources(network, "AWS::EC2::SecurityGroup")
    itself = {"Fn::GetAtt": [group_id, "GroupId"]}
    [ingress] = properties(network, "AWS::EC2::SecurityGroupIngress")
    [egress] = properties(network, "AWS::EC2::SecurityGroupEgress")
    assert (ingress["GroupId"], ingress["SourceSecurityGroupId"]) == (itself, itself)
    assert (egress["GroupId"], egress["DestinationSecurityGroupId"]) == (itself, itself)
    assert (ingress["IpProtocol"], egress["IpProtocol"]) == ("-1", "-1")


def test_training_group_leaves_the_vpc_over_https_only(network: Template) -> None:
    [group] = properties(network, "AWS::EC2::SecurityGroup")
    assert [
        (rule["CidrIp"], rule["IpProtocol"], rule["FromPort"], rule["ToPort"])
        for rule in group["SecurityGroupEgress"]
    ] == [("0.0.0.0/0", "tcp", 443, 443)]


@pytest.mark.parametrize(("row", "days"), [("default", 90), ("everything-set", 30)])
def test_flow_logs_of_all_traffic_go_to_an_encrypted_log_group(
    row: str, days: int, synth: Synthesize
) -> None:
    template = synth(row).templates["NetworkStack"]
    [flow_log] = properties(template, "AWS::EC2::FlowLog")
    [vpc_id] = resources(template, "AWS::EC2::VPC")
    [(group_id, group)] = resources(template, "AWS::Logs::LogGroup").items()
    [key_id] = resources(template, "AWS::KMS::Key")
    assert flow_log["ResourceId"] == {"Ref": vpc_id}
    assert flow_log["TrafficType"] == "ALL"
    assert flow_log["LogGroupName"] == {"Ref": group_id}
    assert group["Properties"]["KmsKeyId"] == {"Fn::GetAtt": [key_id, "Arn"]}
    assert group["Properties"]["RetentionInDays"] == days


def subnets(template: Template, role: str) -> list[dict[str, Any]]:
    """Return the subnets of a load balancer role: `elb` are public, `internal-elb` private."""
    return [
        subnet
        for subnet in properties(template, "AWS::EC2::Subnet")
        if has_tag(subnet, f"kubernetes.io/role/{role}")
    ]


def has_tag(resource_properties: dict[str, Any], key: str) -> bool:
    return any(tag["Key"] == key for tag in resource_properties["Tags"])


def private_route_tables(template: Template) -> set[str]:
    private = {
        logical_id
        for logical_id, subnet in resources(template, "AWS::EC2::Subnet").items()
        if has_tag(subnet["Properties"], "kubernetes.io/role/internal-elb")
    }
    return {
        each["RouteTableId"]["Ref"]
        for each in properties(template, "AWS::EC2::SubnetRouteTableAssociation")
        if each["SubnetId"]["Ref"] in private
    }
