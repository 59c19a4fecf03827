"""Several NAT gateways and their addresses, and routes that move between them."""

from __future__ import annotations

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def resources(gateway: str) -> Resources:
    """Return two public subnets with a NAT gateway each, and a table that uses one of them."""
    made: Resources = {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        "Route": {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": {"Ref": "Table"},
                "DestinationCidrBlock": "0.0.0.0/0",
                "NatGatewayId": {"Ref": gateway},
            },
        },
    }
    for number in (1, 2):
        made[f"Public{number}"] = {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": f"10.0.{number}.0/24",
                "MapPublicIpOnLaunch": True,
            },
        }
        made[f"Address{number}"] = {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}}
        made[f"Gateway{number}"] = {
            "Type": "AWS::EC2::NatGateway",
            "Properties": {
                "SubnetId": {"Ref": f"Public{number}"},
                "AllocationId": {"Fn::GetAtt": [f"Address{number}", "AllocationId"]},
            },
        }
    return made


def test_each_gateway_has_its_address_and_a_route_moves_in_place(
    local_aws: LocalAws, stack: Stack
) -> None:
    cidrs = {"Fn::Join": ["|", {"Fn::GetAtt": ["Vpc", "CidrBlockAssociations"]}]}
    made = stack.create(resources("Gateway1"), Outputs={"Cidrs": {"Value": cidrs}})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    assert made["Outputs"][0]["OutputValue"].startswith("vpc-cidr-assoc-")
    ids, ec2 = stack.ids(), local_aws.client("ec2")

    def target() -> str:
        (table,) = ec2.describe_route_tables(RouteTableIds=[ids["Table"]])["RouteTables"]
        (found,) = [each["NatGatewayId"] for each in table["Routes"] if "NatGatewayId" in each]
        return str(found)

    gateways = ec2.describe_nat_gateways(NatGatewayIds=[ids["Gateway1"], ids["Gateway2"]])
    addresses = {
        each["NatGatewayId"]: each["NatGatewayAddresses"][0]["PublicIp"]
        for each in gateways["NatGateways"]
    }
    assert addresses == {ids[f"Gateway{n}"]: ids[f"Address{n}"] for n in (1, 2)}
    assert target() == ids["Gateway1"]
    changed = stack.update(resources("Gateway2"), Outputs={"Cidrs": {"Value": cidrs}})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    assert target() == ids["Gateway2"]
    stack.delete()
