"""What NetworkStack is made of in a VPC of its own.

test_network_endpoints.py has the ways to AWS services, test_network_existing.py VPCs of others.
"""

from __future__ import annotations

import pytest

from tests.stacks.matrix import Synthesize, Template, properties, resources
from tests.stacks.network_templates import (
    gateway_endpoints,
    nat_of_route_table,
    nat_of_subnet,
    network_of,
    route_tables,
    subnet_ids,
    subnets,
    zone,
    zone_of_nat,
)


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


@pytest.mark.parametrize(("row", "count"), [("two-zones", 2), ("six-zones", 6)])
def test_there_is_a_private_subnet_in_each_of_the_zones_asked_for(
    row: str, count: int, synth: Synthesize
) -> None:
    private = subnets(synth(row).templates["NetworkStack"], "internal-elb")
    assert [each["AvailabilityZone"]["Fn::Select"][0] for each in private] == list(range(count))


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
        ("default", "172.30.0.0/20", ["172.30.64.0/18", "172.30.128.0/18", "172.30.192.0/18"]),
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


def test_the_vpc_gives_names_to_what_is_in_it(network: Template) -> None:
    """File systems are mounted by name, and private DNS of endpoints needs both."""
    [vpc] = properties(network, "AWS::EC2::VPC")
    assert (vpc["EnableDnsSupport"], vpc["EnableDnsHostnames"]) == (True, True)


def test_private_subnets_leave_through_the_one_nat_gateway_in_the_public_subnet(
    network: Template,
) -> None:
    [(nat_id, nat)] = resources(network, "AWS::EC2::NatGateway").items()
    [public_id] = subnet_ids(network, "elb")
    assert nat["Properties"]["SubnetId"] == {"Ref": public_id}
    assert set(nat_of_route_table(network).items()) == {
        (table, nat_id) for table in route_tables(network, "internal-elb")
    }


def test_with_a_nat_gateway_in_each_zone_each_private_subnet_leaves_through_its_own(
    synth: Synthesize,
) -> None:
    template = synth("six-zones").templates["NetworkStack"]
    assert len(set(nat_of_route_table(template).values())) == 6
    for private_id, gateway in nat_of_subnet(template).items():
        assert zone_of_nat(template, gateway) == zone(template, private_id)


def test_fewer_nat_gateways_than_zones_share_the_private_subnets() -> None:
    template = network_of(zone_count="4", nat_gateways="2")
    first, second = subnet_ids(template, "elb")
    nat_in = {
        each["Properties"]["SubnetId"]["Ref"]: logical_id
        for logical_id, each in resources(template, "AWS::EC2::NatGateway").items()
    }
    assert list(nat_of_subnet(template).values()) == [
        nat_in[first],
        nat_in[second],
        nat_in[first],
        nat_in[second],
    ]


def test_without_nat_gateway_the_public_subnet_alone_has_a_default_route(
    synth: Synthesize,
) -> None:
    template = synth("no-nat").templates["NetworkStack"]
    assert resources(template, "AWS::EC2::NatGateway") == {}
    assert resources(template, "AWS::EC2::EIP") == {}
    [route] = properties(template, "AWS::EC2::Route")
    assert route["RouteTableId"]["Ref"] not in route_tables(template, "internal-elb")
    assert "GatewayId" in route


def test_no_subnet_gives_out_public_addresses(network: Template) -> None:
    for subnet in properties(network, "AWS::EC2::Subnet"):
        assert not subnet.get("MapPublicIpOnLaunch", False)


def test_s3_endpoint_serves_every_private_subnet(network: Template) -> None:
    [endpoint] = gateway_endpoints(network)
    assert {each["Ref"] for each in endpoint["RouteTableIds"]} == route_tables(
        network, "internal-elb"
    )


def test_s3_endpoint_lets_this_account_write_to_its_own_buckets_and_others_only_read(
    network: Template,
) -> None:
    [endpoint] = gateway_endpoints(network)
    account = {"Ref": "AWS::AccountId"}
    own = {"StringEquals": {"aws:PrincipalAccount": account, "aws:ResourceAccount": account}}
    for statement in endpoint["PolicyDocument"]["Statement"]:
        verbs = {action.removeprefix("s3:")[:3] for action in statement["Action"]}
        if "Condition" in statement:
            assert statement["Condition"] == own
            assert "s3:PutObject" in statement["Action"]
        else:
            assert verbs == {"Get", "Lis"}


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


@pytest.mark.parametrize(("row", "days"), [("default", 365), ("everything-set", 30)])
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


def test_flow_logs_are_written_by_a_role_that_only_flow_logs_of_this_account_take_on(
    network: Template,
) -> None:
    [flow_log] = properties(network, "AWS::EC2::FlowLog")
    role_id = flow_log["DeliverLogsPermissionArn"]["Fn::GetAtt"][0]
    role = network["Resources"][role_id]["Properties"]
    [trust] = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "vpc-flow-logs.amazonaws.com"}
    assert trust["Condition"]["StringEquals"] == {
        "aws:SourceAccount": {"Ref": "AWS::AccountId"},
    }
    assert "aws:SourceArn" in trust["Condition"]["ArnLike"]
    [policy] = properties(network, "AWS::IAM::ManagedPolicy")
    assert policy["Roles"] == [{"Ref": role_id}]
    [statement] = policy["PolicyDocument"]["Statement"]
    [group_id] = resources(network, "AWS::Logs::LogGroup")
    assert statement["Resource"] == {"Fn::GetAtt": [group_id, "Arn"]}


def test_cloudwatch_of_the_region_may_use_the_key_for_log_groups_of_this_account(
    network: Template,
) -> None:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html"""
    [key] = properties(network, "AWS::KMS::Key")
    [statement] = [each for each in key["KeyPolicy"]["Statement"] if "Service" in each["Principal"]]
    # The name ends as those of its partition do.
    assert statement["Principal"]["Service"] == {
        "Fn::Join": ["", ["logs.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]
    }
    assert "kms:EncryptionContext:aws:logs:arn" in statement["Condition"]["ArnLike"]
