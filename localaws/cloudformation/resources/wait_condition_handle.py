"""AWS::CloudFormation::WaitConditionHandle: what stands in a template that needs nothing."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource


class WaitConditionHandle(Resource):
    """An address for signals. Nothing here sends any, and no wait condition is made."""

    TYPE = "AWS::CloudFormation::WaitConditionHandle"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        return cls(f"https://cloudformation-waitcondition-{aws.region}.invalid/{name}")

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        pass

    def delete(self, aws: Aws) -> None:
        pass
