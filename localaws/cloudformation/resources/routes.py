"""Route tables, their routes and the subnets that use them."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class RouteTable(Resource):
    """A route table."""

    TYPE = "AWS::EC2::RouteTable"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        table = aws.ec2.create_route_table(
            VpcId=properties["VpcId"], **ec2_tags.specification("route-table", properties)
        )["RouteTable"]
        return cls(table["RouteTableId"], RouteTableId=table["RouteTableId"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        ec2_tags.update_only(aws, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        tables = aws.ec2.describe_route_tables(RouteTableIds=[self.physical_resource_id])
        (table,) = tables["RouteTables"]
        return {"VpcId": table["VpcId"], "Tags": table.get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_route_table(RouteTableId=self.physical_resource_id)


_DESTINATIONS = ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")
_TARGETS = (
    "GatewayId",
    "NatGatewayId",
    "NetworkInterfaceId",
    "InstanceId",
    "TransitGatewayId",
    "VpcPeeringConnectionId",
    "EgressOnlyInternetGatewayId",
)


class Route(Resource):
    """One route of a table."""

    TYPE = "AWS::EC2::Route"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        key = only(properties, ("RouteTableId", *_DESTINATIONS))
        aws.ec2.create_route(**key, **only(properties, _TARGETS))
        return cls("|".join(key.values()), key=key)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        aws.ec2.replace_route(**self.attributes["key"], **only(new, _TARGETS))

    def read(self, aws: Aws) -> Properties | None:
        destination = only(self.attributes["key"], _DESTINATIONS)
        tables = aws.ec2.describe_route_tables(
            RouteTableIds=[self.attributes["key"]["RouteTableId"]]
        )
        for route in tables["RouteTables"][0]["Routes"]:
            if only(route, _DESTINATIONS) == destination:
                return only(route, (*_DESTINATIONS, *_TARGETS))
        return None

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_route(**self.attributes["key"])


class SubnetRouteTableAssociation(Resource):
    """Which table a subnet uses."""

    TYPE = "AWS::EC2::SubnetRouteTableAssociation"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        association = aws.ec2.associate_route_table(
            **only(properties, ("RouteTableId", "SubnetId"))
        )
        return cls(association["AssociationId"], Id=association["AssociationId"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        association = aws.ec2.replace_route_table_association(
            AssociationId=self.physical_resource_id, RouteTableId=new["RouteTableId"]
        )
        self.physical_resource_id = association["NewAssociationId"]

    def delete(self, aws: Aws) -> None:
        aws.ec2.disassociate_route_table(AssociationId=self.physical_resource_id)
