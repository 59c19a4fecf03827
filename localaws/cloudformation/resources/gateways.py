"""The ways out of a VPC: internet gateway, its attachment, Elastic IP and NAT gateway."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class InternetGateway(Resource):
    """An internet gateway."""

    TYPE = "AWS::EC2::InternetGateway"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        tags = ec2_tags.specification("internet-gateway", properties)
        gateway = aws.ec2.create_internet_gateway(**tags)["InternetGateway"]
        return cls(gateway["InternetGatewayId"], InternetGatewayId=gateway["InternetGatewayId"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        ec2_tags.update_only(aws, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        gateways = aws.ec2.describe_internet_gateways(
            InternetGatewayIds=[self.physical_resource_id]
        )
        return {"Tags": gateways["InternetGateways"][0].get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_internet_gateway(InternetGatewayId=self.physical_resource_id)


class VpcGatewayAttachment(Resource):
    """An internet gateway's attachment to a VPC."""

    TYPE = "AWS::EC2::VPCGatewayAttachment"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        gateway_id, vpc_id = properties["InternetGatewayId"], properties["VpcId"]
        aws.ec2.attach_internet_gateway(InternetGatewayId=gateway_id, VpcId=vpc_id)
        return cls(f"IGW|{vpc_id}", AttachmentType="IGW", gateway_id=gateway_id, vpc_id=vpc_id)

    def delete(self, aws: Aws) -> None:
        aws.ec2.detach_internet_gateway(
            InternetGatewayId=self.attributes["gateway_id"], VpcId=self.attributes["vpc_id"]
        )


class ElasticIp(Resource):
    """An Elastic IP address."""

    TYPE = "AWS::EC2::EIP"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        address = aws.ec2.allocate_address(
            **only(properties, ("Domain",)), **ec2_tags.specification("elastic-ip", properties)
        )
        made = cls(
            address["PublicIp"], PublicIp=address["PublicIp"], AllocationId=address["AllocationId"]
        )
        if "InstanceId" in properties:
            aws.ec2.associate_address(
                AllocationId=address["AllocationId"], InstanceId=properties["InstanceId"]
            )
        return made

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        ec2_tags.update_only(aws, self.attributes["AllocationId"], old, new)

    def read(self, aws: Aws) -> Properties:
        found = aws.ec2.describe_addresses(AllocationIds=[self.attributes["AllocationId"]])
        (address,) = found["Addresses"]
        return {**only(address, ("Domain",)), "Tags": address.get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        aws.ec2.release_address(AllocationId=self.attributes["AllocationId"])


class NatGateway(Resource):
    """A NAT gateway."""

    TYPE = "AWS::EC2::NatGateway"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        gateway = aws.ec2.create_nat_gateway(
            **only(properties, ("SubnetId", "AllocationId", "ConnectivityType")),
            **ec2_tags.specification("natgateway", properties),
        )["NatGateway"]
        return cls(gateway["NatGatewayId"], NatGatewayId=gateway["NatGatewayId"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        ec2_tags.update_only(aws, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties | None:
        found = aws.ec2.describe_nat_gateways(NatGatewayIds=[self.physical_resource_id])
        there = [each for each in found["NatGateways"] if each["State"] == "available"]
        if not there:
            return None
        addresses = [each.get("AllocationId") for each in there[0]["NatGatewayAddresses"]]
        return {
            **only(there[0], ("SubnetId", "ConnectivityType")),
            "AllocationId": addresses[0] if addresses else None,
            "Tags": there[0].get("Tags", []),
        }

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_nat_gateway(NatGatewayId=self.physical_resource_id)
