"""AWS::EC2::PlacementGroup."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation import ec2_tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class PlacementGroup(Resource):
    """Where instances are to be close to each other."""

    TYPE = "AWS::EC2::PlacementGroup"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        made = aws.ec2.create_placement_group(
            GroupName=name,
            **only(properties, ("Strategy", "PartitionCount", "SpreadLevel")),
            **ec2_tags.specification("placement-group", properties),
        )["PlacementGroup"]
        return cls(name, GroupName=name, GroupId=made["GroupId"])

    def read(self, aws: Aws) -> Properties:
        found = aws.ec2.describe_placement_groups(GroupNames=[self.physical_resource_id])
        (group,) = found["PlacementGroups"]
        return {**only(group, ("Strategy",)), "Tags": group.get("Tags", [])}

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_placement_group(GroupName=self.physical_resource_id)
