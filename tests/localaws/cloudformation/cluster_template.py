"""A stack in the shape of ClusterStack's groups, small enough to read."""

from __future__ import annotations

import base64
from typing import Any

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

UBUNTU_22 = (
    "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
)
UBUNTU_24 = UBUNTU_22.replace("22.04", "24.04")

PARAMETERS: dict[str, Any] = {
    "Image": {"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": UBUNTU_22}
}

USER_DATA = "#!/bin/sh\necho set up\n"


def named(logical_id: str, attribute: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [logical_id, attribute]}


NETWORK: Resources = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/20"}},
    **{
        f"Subnet{zone.upper()}": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": f"10.0.{number}.0/24",
                "AvailabilityZone": f"us-east-1{zone}",
            },
        }
        for number, zone in enumerate("ab")
    },
    "Nodes": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "Nodes", "VpcId": {"Ref": "Vpc"}},
    },
    "Close": {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}},
    "Role": {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {
                "Version": "2012-10-17",
                "Statement": {
                    "Effect": "Allow",
                    "Principal": {"Service": "ec2.amazonaws.com"},
                    "Action": "sts:AssumeRole",
                },
            }
        },
    },
    "Profile": {
        "Type": "AWS::IAM::InstanceProfile",
        "Properties": {"Roles": [{"Ref": "Role"}]},
    },
}


def launch_template(**more: Any) -> Resources:
    interfaces = [
        {
            "DeviceIndex": min(card, 1),
            "NetworkCardIndex": card,
            "InterfaceType": "efa",
            "AssociatePublicIpAddress": False,
            "DeleteOnTermination": True,
            "Groups": [named("Nodes", "GroupId")],
        }
        for card in range(4)
    ]
    data = {
        "ImageId": {"Ref": "Image"},
        "InstanceType": "p4d.24xlarge",
        "IamInstanceProfile": {"Arn": named("Profile", "Arn")},
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        "Placement": {"GroupName": {"Ref": "Close"}},
        "UserData": {"Fn::Base64": USER_DATA},
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 200, "Encrypted": True}}
        ],
        "NetworkInterfaces": interfaces,
        **more,
    }
    return {
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}
    }


def group(
    *,
    least: int = 0,
    most: int = 4,
    desired: int | None = None,
    rolling: dict[str, Any] | None = None,
    keeps_sizes: bool = True,
    signals: dict[str, Any] | None = None,
    subnets: tuple[str, ...] = ("SubnetA",),
    **more: Any,
) -> Resources:
    properties = {
        "MinSize": str(least),
        "MaxSize": str(most),
        **({} if desired is None else {"DesiredCapacity": str(desired)}),
        "VPCZoneIdentifier": [{"Ref": name} for name in subnets],
        "LaunchTemplate": {
            "LaunchTemplateId": {"Ref": "Template"},
            "Version": named("Template", "LatestVersionNumber"),
        },
        "Tags": [{"Key": "role", "Value": "worker", "PropagateAtLaunch": True}],
        **more,
    }
    policy = {
        "AutoScalingScheduledAction": {"IgnoreUnmodifiedGroupSizeProperties": keeps_sizes},
        "AutoScalingRollingUpdate": {
            "WaitOnResourceSignals": True,
            "PauseTime": "PT15M",
            "SuspendProcesses": ["HealthCheck", "ReplaceUnhealthy", "AZRebalance"],
            **(rolling or {}),
        },
    }
    definition: dict[str, Any] = {
        "Type": "AWS::AutoScaling::AutoScalingGroup",
        "Properties": properties,
        "UpdatePolicy": policy,
    }
    if signals is not None:
        definition["CreationPolicy"] = {"ResourceSignal": signals}
    return {"Workers": definition}


def cluster(template: Resources | None = None, **of_group: Any) -> Resources:
    return {**NETWORK, **(template or launch_template()), **group(**of_group)}


def shown(aws: LocalAws, stack: Stack) -> dict[str, Any]:
    found = aws.client("autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[stack.ids()["Workers"]]
    )
    described: dict[str, Any] = found["AutoScalingGroups"][0]
    return described


def members(aws: LocalAws, stack: Stack) -> set[str]:
    return {each["InstanceId"] for each in shown(aws, stack)["Instances"]}


def instances(aws: LocalAws, ids: set[str]) -> list[dict[str, Any]]:
    found = aws.client("ec2").describe_instances(InstanceIds=sorted(ids))["Reservations"]
    return [instance for reservation in found for instance in reservation["Instances"]]


def reasons(stack: Stack, logical_id: str = "Workers") -> list[str]:
    """Return what was told about a resource, oldest first."""
    events = stack.cloudformation.describe_stack_events(StackName=stack.name)["StackEvents"]
    return [
        each["ResourceStatusReason"]
        for each in reversed(events)
        if each["LogicalResourceId"] == logical_id and each.get("ResourceStatusReason")
    ]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
