"""AWS::IAM::InstanceProfile."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class InstanceProfile(Resource):
    """What hands a role to an instance."""

    TYPE = "AWS::IAM::InstanceProfile"
    TAGS = ""
    NAME_PROPERTY = "InstanceProfileName"
    NAME_LIMIT = 128

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        iam = aws.client("iam")
        profile = iam.create_instance_profile(
            InstanceProfileName=name, **only(properties, ("Path",))
        )["InstanceProfile"]
        return cls(name, Arn=profile["Arn"])

    def complete(self, aws: Aws, properties: Properties) -> None:
        for role in properties["Roles"]:
            aws.client("iam").add_role_to_instance_profile(
                InstanceProfileName=self.physical_resource_id, RoleName=role
            )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, name = aws.client("iam"), self.physical_resource_id
        for role in old["Roles"]:
            iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName=role)
        for role in new["Roles"]:
            iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role)

    def delete(self, aws: Aws) -> None:
        iam, name = aws.client("iam"), self.physical_resource_id
        profile = iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
        for role in profile["Roles"]:
            iam.remove_role_from_instance_profile(
                InstanceProfileName=name, RoleName=role["RoleName"]
            )
        iam.delete_instance_profile(InstanceProfileName=name)
