"""AWS::CDK::Metadata: what the CDK CLI adds to a template to count its users."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource


class CdkMetadata(Resource):
    """Makes nothing, in AWS too."""

    TYPE = "AWS::CDK::Metadata"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        return cls(name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        pass

    def delete(self, aws: Aws) -> None:
        pass
