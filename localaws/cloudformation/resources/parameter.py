"""AWS::SSM::Parameter."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class Parameter(Resource):
    """A parameter of Systems Manager; `cdk bootstrap` leaves its version in one."""

    TYPE = "AWS::SSM::Parameter"
    TAGS = ""
    NAME_PROPERTY = "Name"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        _put(aws, name, properties)
        return cls(name, Type=properties["Type"], Value=properties["Value"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _put(aws, self.physical_resource_id, new, Overwrite=True)
        self.attributes = {"Type": new["Type"], "Value": new["Value"]}

    def read(self, aws: Aws) -> Properties:
        shown = aws.client("ssm").get_parameter(Name=self.physical_resource_id)["Parameter"]
        return only(shown, ("Type", "Value"))

    def delete(self, aws: Aws) -> None:
        aws.client("ssm").delete_parameter(Name=self.physical_resource_id)


def _put(aws: Aws, name: str, properties: Properties, **more: bool) -> None:
    aws.client("ssm").put_parameter(
        Name=name,
        Value=str(properties["Value"]),
        **only(properties, ("Type", "Description", "AllowedPattern", "Tier")),
        **more,
    )
