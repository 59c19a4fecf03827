"""Interface and gateway endpoints, made and changed by a stack."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

S3 = "com.amazonaws.us-east-1.s3"
LOGS = "com.amazonaws.us-east-1.logs"


def allow(action: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": "*", "Action": action, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def subnet(number: int, zone: int) -> Resources:
    return {
        "Type": "AWS::EC2::Subnet",
        "Properties": {
            "VpcId": {"Ref": "Vpc"},
            "CidrBlock": f"10.0.{number}.0/24",
            "AvailabilityZone": {"Fn::Select": [zone, {"Fn::GetAZs": ""}]},
        },
    }


def group(description: str) -> Resources:
    return {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": description, "VpcId": {"Ref": "Vpc"}},
    }


BASE: Resources = {
    "Vpc": {
        "Type": "AWS::EC2::VPC",
        "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True},
    },
    "One": subnet(1, 0),
    "Two": subnet(2, 1),
    "SameZone": subnet(3, 0),
    "Group": group("first"),
    "Other": group("second"),
    "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
    "OtherTable": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
}


def endpoint(service: str, **properties: Any) -> Resources:
    return {
        "Type": "AWS::EC2::VPCEndpoint",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "ServiceName": service, **properties},
    }


def interface(**properties: Any) -> Resources:
    made = {
        "VpcEndpointType": "Interface",
        "SubnetIds": [{"Ref": "One"}],
        "SecurityGroupIds": [{"Ref": "Group"}],
        "PrivateDnsEnabled": True,
        **properties,
    }
    return endpoint(LOGS, **made)


def describe(aws: LocalAws, endpoint_id: str) -> dict[str, Any]:
    answer = aws.client("ec2").describe_vpc_endpoints(VpcEndpointIds=[endpoint_id])
    (seen,) = answer["VpcEndpoints"]
    return dict(seen)


def interfaces(aws: LocalAws, seen: dict[str, Any]) -> dict[str, list[str]]:
    """Return subnet to groups of an endpoint's network interfaces."""
    answer = aws.client("ec2").describe_network_interfaces(
        NetworkInterfaceIds=seen["NetworkInterfaceIds"]
    )
    return {
        each["SubnetId"]: [group["GroupId"] for group in each["Groups"]]
        for each in answer["NetworkInterfaces"]
    }


def routes(aws: LocalAws, table_id: str) -> list[str]:
    (table,) = aws.client("ec2").describe_route_tables(RouteTableIds=[table_id])["RouteTables"]
    return [each["GatewayId"] for each in table["Routes"] if "DestinationPrefixListId" in each]


def test_interface_endpoint_is_seen_whole_and_changes_in_place(
    local_aws: LocalAws, stack: Stack
) -> None:
    tags = [{"Key": "Name", "Value": "logs"}]
    first = interface(PolicyDocument=allow("logs:PutLogEvents"), Tags=tags)
    made = stack.create({**BASE, "Endpoint": first})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids = stack.ids()
    seen = describe(local_aws, ids["Endpoint"])
    assert (seen["VpcEndpointType"], seen["PrivateDnsEnabled"]) == ("Interface", True)
    assert (seen["SubnetIds"], seen["Tags"]) == ([ids["One"]], tags)
    assert [each["GroupId"] for each in seen["Groups"]] == [ids["Group"]]
    assert json.loads(seen["PolicyDocument"]) == allow("logs:PutLogEvents")
    assert interfaces(local_aws, seen) == {ids["One"]: [ids["Group"]]}

    second = interface(
        SubnetIds=[{"Ref": "Two"}],
        SecurityGroupIds=[{"Ref": "Other"}],
        PrivateDnsEnabled=False,
        PolicyDocument=allow("logs:CreateLogStream"),
    )
    changed = stack.update({**BASE, "Endpoint": second})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    seen = describe(local_aws, ids["Endpoint"])
    assert (seen["SubnetIds"], seen["PrivateDnsEnabled"]) == ([ids["Two"]], False)
    assert json.loads(seen["PolicyDocument"]) == allow("logs:CreateLogStream")
    assert interfaces(local_aws, seen) == {ids["Two"]: [ids["Other"]]}
    assert seen.get("Tags", []) == []

    stack.update({**BASE, "Endpoint": interface(SubnetIds=[{"Ref": "Two"}])})
    policy = json.loads(describe(local_aws, ids["Endpoint"])["PolicyDocument"])
    assert policy["Statement"][0]["Action"] == "*"
    stack.delete()
    found = local_aws.client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    assert ids["Endpoint"] not in {each["VpcEndpointId"] for each in found}


def test_gateway_endpoint_routes_each_table_and_follows_changes(
    local_aws: LocalAws, stack: Stack
) -> None:
    # The type is left out: a gateway, as CloudFormation has it.
    stack.create({**BASE, "Endpoint": endpoint(S3, RouteTableIds=[{"Ref": "Table"}])})
    ids = stack.ids()
    seen = describe(local_aws, ids["Endpoint"])
    assert (seen["VpcEndpointType"], seen["RouteTableIds"]) == ("Gateway", [ids["Table"]])
    assert routes(local_aws, ids["Table"]) == [ids["Endpoint"]]
    stack.update(
        {
            **BASE,
            "Endpoint": endpoint(
                S3, RouteTableIds=[{"Ref": "OtherTable"}], PolicyDocument=allow("s3:GetObject")
            ),
        }
    )
    assert stack.ids() == ids
    seen = describe(local_aws, ids["Endpoint"])
    assert seen["RouteTableIds"] == [ids["OtherTable"]]
    assert json.loads(seen["PolicyDocument"]) == allow("s3:GetObject")
    assert routes(local_aws, ids["Table"]) == []
    assert routes(local_aws, ids["OtherTable"]) == [ids["Endpoint"]]
    filters = [
        {"Name": "vpc-id", "Values": [ids["Vpc"]]},
        {"Name": "service-name", "Values": [S3]},
    ]
    found = local_aws.client("ec2").describe_vpc_endpoints(Filters=filters)["VpcEndpoints"]
    assert [each["VpcEndpointId"] for each in found] == [ids["Endpoint"]]
    stack.delete()


NO_NAMES = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}

REFUSED = {
    "names": ({"Vpc": NO_NAMES, "Endpoint": interface()}, "both enableDnsSupport and"),
    "zone": (
        {"Endpoint": interface(SubnetIds=[{"Ref": "One"}, {"Ref": "SameZone"}])},
        "Found another VPC endpoint subnet in the availability zone",
    ),
    "twice": (
        {"Endpoint": interface(), "Again": {**interface(), "DependsOn": "Endpoint"}},
        f"conflicting DNS domain for {LOGS}",
    ),
    "route": (
        {
            "Endpoint": endpoint(S3, RouteTableIds=[{"Ref": "Table"}]),
            "Again": {
                **endpoint(S3, RouteTableIds=[{"Ref": "Table"}]),
                "DependsOn": "Endpoint",
            },
        },
        f"already has a route with destination {S3}",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_conflict_is_refused_as_ec2_does(stack: Stack, name: str) -> None:
    resources, message = REFUSED[name]
    made = stack.create({**BASE, **resources})
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert message in made["StackStatusReason"]
