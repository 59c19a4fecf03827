"""What EC2 does not delete while it is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

NETWORK: Resources = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"},
    },
    "Servers": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "Servers", "VpcId": {"Ref": "Vpc"}},
    },
}
LUSTRE: Resources = {
    "Fast": {
        "Type": "AWS::FSx::FileSystem",
        "DeletionPolicy": "Retain",
        "Properties": {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 1200,
            "SubnetIds": [{"Ref": "Subnet"}],
            "SecurityGroupIds": [{"Fn::GetAtt": ["Servers", "GroupId"]}],
            "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
        },
    }
}


@pytest.fixture
def stack(local_aws: LocalAws) -> Stack:
    return Stack(local_aws)


def refusal(call: Callable[..., Any], **arguments: Any) -> str:
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return error.value.response["Error"]["Code"]


def test_a_retained_file_system_keeps_its_subnet_and_its_group(
    local_aws: LocalAws, stack: Stack
) -> None:
    made = stack.create({**NETWORK, **LUSTRE})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids = stack.ids()
    stack.delete()
    assert stack.describe()["StackStatus"] == "DELETE_FAILED"
    assert {name for name in ids if stack.events(name)[-1] == "DELETE_FAILED"} >= {
        "Servers",
        "Subnet",
    }
    ec2, fsx = local_aws.client("ec2"), local_aws.client("fsx")
    assert refusal(ec2.delete_subnet, SubnetId=ids["Subnet"]) == "DependencyViolation"
    assert refusal(ec2.delete_security_group, GroupId=ids["Servers"]) == "DependencyViolation"
    assert refusal(ec2.delete_vpc, VpcId=ids["Vpc"]) == "DependencyViolation"

    fsx.delete_file_system(FileSystemId=ids["Fast"])
    stack.delete()
    assert refusal(stack.cloudformation.describe_stacks, StackName=stack.name) == "ValidationError"


def test_a_group_that_a_rule_of_another_names_stays(local_aws: LocalAws, stack: Stack) -> None:
    others = {
        "Clients": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "Clients", "VpcId": {"Ref": "Vpc"}},
        }
    }
    stack.create({**NETWORK, **others})
    ids, ec2 = stack.ids(), local_aws.client("ec2")
    rule = {
        "IpProtocol": "tcp",
        "FromPort": 988,
        "ToPort": 988,
        "UserIdGroupPairs": [{"GroupId": ids["Clients"]}],
    }
    ec2.authorize_security_group_ingress(GroupId=ids["Servers"], IpPermissions=[rule])
    assert refusal(ec2.delete_security_group, GroupId=ids["Clients"]) == "DependencyViolation"
    ec2.revoke_security_group_ingress(GroupId=ids["Servers"], IpPermissions=[rule])
    stack.delete()


def test_a_subnet_goes_once_its_nat_gateway_is_gone(local_aws: LocalAws, stack: Stack) -> None:
    gateway = {
        "Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}},
        "Gateway": {
            "Type": "AWS::EC2::NatGateway",
            "Properties": {
                "SubnetId": {"Ref": "Subnet"},
                "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]},
            },
        },
    }
    stack.create({**NETWORK, **gateway})
    ids, ec2 = stack.ids(), local_aws.client("ec2")
    assert refusal(ec2.delete_subnet, SubnetId=ids["Subnet"]) == "DependencyViolation"
    stack.delete()
    assert refusal(ec2.describe_subnets, SubnetIds=[ids["Subnet"]]) == "InvalidSubnetID.NotFound"
