"""NetworkStack in a VPC of others: what it adds, and what it leaves alone."""

from __future__ import annotations

import pytest

from tests.stacks.matrix import EXISTING_VPC, Synthesize, Template, properties, resources
from tests.stacks.network_templates import gateway_endpoints, network_of, stack_of

# isort: split

from aws_cdk.assertions import Annotations, Match

EXISTING_VPC_ID = EXISTING_VPC["vpc_id"]
GIVEN_GROUP = "sg-0123456789abcdef0"


@pytest.fixture
def existing(synth: Synthesize) -> Template:
    return synth("existing-vpc").templates["NetworkStack"]


def test_nothing_of_an_existing_vpc_is_made_or_changed(existing: Template) -> None:
    for resource_type in ("VPC", "Subnet", "RouteTable", "Route", "InternetGateway", "NatGateway"):
        assert resources(existing, f"AWS::EC2::{resource_type}") == {}


def test_what_an_existing_vpc_lacks_is_added_to_it(existing: Template) -> None:
    [endpoint] = gateway_endpoints(existing)
    [group] = properties(existing, "AWS::EC2::SecurityGroup")
    [flow_log] = properties(existing, "AWS::EC2::FlowLog")
    assert {endpoint["VpcId"], group["VpcId"], flow_log["ResourceId"]} == {EXISTING_VPC_ID}


def test_a_route_table_that_subnets_share_is_named_once(existing: Template) -> None:
    [endpoint] = gateway_endpoints(existing)
    assert sorted(endpoint["RouteTableIds"]) == ["rtb-0123456789abcdef1", "rtb-0123456789abcdef2"]


def test_an_existing_vpc_fills_the_same_contract(synth: Synthesize) -> None:
    outputs = synth("existing-vpc-with-all").templates["NetworkStack"]["Outputs"]
    assert {key: output["Value"] for key, output in outputs.items()} == {
        "Project": "distributed-mask-rcnn",
        "VpcId": EXISTING_VPC_ID,
        "PrivateSubnetIds": ",".join(f"subnet-0123456789abcdef{each}" for each in (1, 2, 3)),
        "PublicSubnetIds": "subnet-0123456789abcdef4",
        "AvailabilityZones": "us-west-2a,us-west-2b,us-west-2c",
        "TrainingSecurityGroupId": GIVEN_GROUP,
    }


def test_where_all_exists_the_stack_holds_a_placeholder_alone(synth: Synthesize) -> None:
    """CloudFormation refuses a template without resources."""
    template = synth("existing-vpc-with-all").templates["NetworkStack"]
    [resource] = template["Resources"].values()
    assert resource == {"Type": "AWS::CloudFormation::WaitConditionHandle"}


def test_a_given_group_gets_rules_to_and_from_new_groups_alone(synth: Synthesize) -> None:
    """A rule that is there already would be refused; one with a new group cannot be."""
    rows = synth("existing-vpc-with-all").templates.values()
    rules = [
        rule
        for template in rows
        for direction in ("Ingress", "Egress")
        for rule in properties(template, f"AWS::EC2::SecurityGroup{direction}")
        if rule["GroupId"] == GIVEN_GROUP
    ]
    others = [
        rule.get("SourceSecurityGroupId") or rule["DestinationSecurityGroupId"] for rule in rules
    ]
    assert others
    assert all("Fn::GetAtt" in each for each in others)


def test_a_given_group_reaches_the_interface_endpoints_even_if_little_may_leave_it() -> None:
    template = network_of(
        **EXISTING_VPC, training_security_group_id=GIVEN_GROUP, interface_endpoints="sts"
    )
    [group_id] = resources(template, "AWS::EC2::SecurityGroup")
    endpoint_group = {"Fn::GetAtt": [group_id, "GroupId"]}
    [ingress] = properties(template, "AWS::EC2::SecurityGroupIngress")
    [egress] = properties(template, "AWS::EC2::SecurityGroupEgress")
    assert (ingress["GroupId"], ingress["SourceSecurityGroupId"]) == (endpoint_group, GIVEN_GROUP)
    assert (egress["GroupId"], egress["DestinationSecurityGroupId"]) == (
        GIVEN_GROUP,
        endpoint_group,
    )


def test_a_subnet_without_a_route_table_raises_no_warning() -> None:
    """CDK warns of one, though nothing reads it."""
    subnet = "subnet-01234567:us-west-2a"
    context = {"vpc_id": EXISTING_VPC_ID, "private_subnets": subnet, "s3_endpoint": "existing"}
    stack = stack_of(**context, public_subnets="subnet-89abcdef:us-west-2a")
    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    assert [each.entry.data for each in found] == []
