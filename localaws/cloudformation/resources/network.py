"""AWS::EC2::VPC and AWS::EC2::Subnet."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class Vpc(Resource):
    """A VPC."""

    TYPE = "AWS::EC2::VPC"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        vpc = aws.ec2.create_vpc(
            **only(properties, ("CidrBlock", "InstanceTenancy")),
            **ec2_tags.specification("vpc", properties),
        )["Vpc"]
        vpc_id = vpc["VpcId"]
        filters = [
            {"Name": "vpc-id", "Values": [vpc_id]},
            {"Name": "group-name", "Values": ["default"]},
        ]
        groups = aws.ec2.describe_security_groups(Filters=filters)["SecurityGroups"]
        acl_filters = [
            {"Name": "vpc-id", "Values": [vpc_id]},
            {"Name": "default", "Values": ["true"]},
        ]
        acls = aws.ec2.describe_network_acls(Filters=acl_filters)["NetworkAcls"]
        return cls(
            vpc_id,
            VpcId=vpc_id,
            CidrBlock=vpc["CidrBlock"],
            CidrBlockAssociations=[
                each["AssociationId"] for each in vpc["CidrBlockAssociationSet"]
            ],
            Ipv6CidrBlocks=[],
            DefaultSecurityGroup=groups[0]["GroupId"],
            DefaultNetworkAcl=acls[0]["NetworkAclId"] if acls else "",
        )

    def complete(self, aws: Aws, properties: Properties) -> None:
        _set_dns(aws, self.physical_resource_id, properties)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _set_dns(aws, self.physical_resource_id, new)
        ec2_tags.update(aws, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        vpc_id = self.physical_resource_id
        (vpc,) = aws.ec2.describe_vpcs(VpcIds=[vpc_id])["Vpcs"]
        names = {"EnableDnsSupport": "enableDnsSupport", "EnableDnsHostnames": "enableDnsHostnames"}
        dns = {
            name: aws.ec2.describe_vpc_attribute(VpcId=vpc_id, Attribute=attribute)[name]["Value"]
            for name, attribute in names.items()
        }
        return {**only(vpc, ("CidrBlock", "InstanceTenancy")), **dns, "Tags": vpc.get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_vpc(VpcId=self.physical_resource_id)


def _set_dns(aws: Aws, vpc_id: str, properties: Properties) -> None:
    defaults = {"EnableDnsSupport": True, "EnableDnsHostnames": False}
    for attribute, default in defaults.items():
        value: Any = properties.get(attribute, default)
        aws.ec2.modify_vpc_attribute(VpcId=vpc_id, **{attribute: {"Value": is_true(value)}})


class Subnet(Resource):
    """A subnet."""

    TYPE = "AWS::EC2::Subnet"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        subnet = aws.ec2.create_subnet(
            **only(properties, ("VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId")),
            **ec2_tags.specification("subnet", properties),
        )["Subnet"]
        return cls(
            subnet["SubnetId"],
            SubnetId=subnet["SubnetId"],
            VpcId=subnet["VpcId"],
            CidrBlock=subnet["CidrBlock"],
            AvailabilityZone=subnet["AvailabilityZone"],
            AvailabilityZoneId=subnet["AvailabilityZoneId"],
        )

    def complete(self, aws: Aws, properties: Properties) -> None:
        self._set_public(aws, properties)

    def _set_public(self, aws: Aws, properties: Properties) -> None:
        aws.ec2.modify_subnet_attribute(
            SubnetId=self.physical_resource_id,
            MapPublicIpOnLaunch={"Value": is_true(properties.get("MapPublicIpOnLaunch", False))},
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        self._set_public(aws, new)
        ec2_tags.update(aws, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        (subnet,) = aws.ec2.describe_subnets(SubnetIds=[self.physical_resource_id])["Subnets"]
        names = ("VpcId", "CidrBlock", "AvailabilityZone", "MapPublicIpOnLaunch")
        return {**only(subnet, names), "Tags": subnet.get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_subnet(SubnetId=self.physical_resource_id)


def is_true(value: Any) -> bool:
    """Read a boolean, which a template may write as a string."""
    return str(value).lower() == "true"
