"""AWS::EC2::LaunchTemplate."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class LaunchTemplate(Resource):
    """What the instances of a group are started from; a change makes a new version.

    The default version stays the first one: CloudFormation never sets it.
    """

    TYPE = "AWS::EC2::LaunchTemplate"
    TAGS = ""
    NAME_PROPERTY = "LaunchTemplateName"
    NAME_LIMIT = 128

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        made = aws.ec2.create_launch_template(
            LaunchTemplateName=name,
            **only(properties, ("VersionDescription", "LaunchTemplateData", "TagSpecifications")),
        )["LaunchTemplate"]
        return cls(
            made["LaunchTemplateId"],
            LaunchTemplateId=made["LaunchTemplateId"],
            DefaultVersionNumber=str(made["DefaultVersionNumber"]),
            LatestVersionNumber=str(made["LatestVersionNumber"]),
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        version = aws.ec2.create_launch_template_version(
            LaunchTemplateId=self.physical_resource_id,
            **only(new, ("VersionDescription", "LaunchTemplateData")),
        )["LaunchTemplateVersion"]
        self.attributes["LatestVersionNumber"] = str(version["VersionNumber"])

    def read(self, aws: Aws) -> Properties | None:
        # What is in a version never changes, and CloudFormation does not compare it.
        found = aws.ec2.describe_launch_templates(LaunchTemplateIds=[self.physical_resource_id])
        if not found["LaunchTemplates"]:
            return None
        return only(found["LaunchTemplates"][0], ("LaunchTemplateName",))

    def delete(self, aws: Aws) -> None:
        aws.ec2.delete_launch_template(LaunchTemplateId=self.physical_resource_id)
