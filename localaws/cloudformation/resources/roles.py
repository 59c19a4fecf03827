"""IAM roles, their policies and instance profiles."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class Role(Resource):
    """A role with its inline and managed policies."""

    TYPE = "AWS::IAM::Role"
    NAME_PROPERTY = "RoleName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        role = aws.client("iam").create_role(
            RoleName=name,
            AssumeRolePolicyDocument=json.dumps(properties["AssumeRolePolicyDocument"]),
            **only(
                properties,
                ("Path", "Description", "MaxSessionDuration", "PermissionsBoundary", "Tags"),
            ),
        )["Role"]
        made = cls(name, Arn=role["Arn"], RoleId=role["RoleId"])
        made._set_policies(aws, {}, properties)
        return made

    def _set_policies(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, name = aws.client("iam"), self.physical_resource_id
        before, after = _inline(old), _inline(new)
        for policy in before.keys() - after.keys():
            iam.delete_role_policy(RoleName=name, PolicyName=policy)
        for policy, document in after.items():
            iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=document)
        attached, wanted = (
            set(old.get("ManagedPolicyArns", [])),
            set(new.get("ManagedPolicyArns", [])),
        )
        for arn in sorted(attached - wanted):
            iam.detach_role_policy(RoleName=name, PolicyArn=arn)
        for arn in sorted(wanted - attached):
            iam.attach_role_policy(RoleName=name, PolicyArn=arn)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, name = aws.client("iam"), self.physical_resource_id
        iam.update_assume_role_policy(
            RoleName=name, PolicyDocument=json.dumps(new["AssumeRolePolicyDocument"])
        )
        iam.update_role(
            RoleName=name,
            Description=new.get("Description", ""),
            MaxSessionDuration=int(new.get("MaxSessionDuration", 3600)),
        )
        self._set_policies(aws, old, new)
        _set_role_tags(iam, name, old, new)

    def delete(self, aws: Aws) -> None:
        iam, name = aws.client("iam"), self.physical_resource_id
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
            iam.delete_role_policy(RoleName=name, PolicyName=policy)
        for policy in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
            iam.detach_role_policy(RoleName=name, PolicyArn=policy["PolicyArn"])
        iam.delete_role(RoleName=name)


def _inline(properties: Properties) -> dict[str, str]:
    return {
        policy["PolicyName"]: json.dumps(policy["PolicyDocument"])
        for policy in properties.get("Policies", [])
    }


def _set_role_tags(iam: Any, name: str, old: Properties, new: Properties) -> None:
    before = {tag["Key"] for tag in old.get("Tags", [])}
    after = {tag["Key"] for tag in new.get("Tags", [])}
    if before - after:
        iam.untag_role(RoleName=name, TagKeys=sorted(before - after))
    if after:
        iam.tag_role(RoleName=name, Tags=new["Tags"])


class Policy(Resource):
    """An inline policy written apart from the roles that it is put into."""

    TYPE = "AWS::IAM::Policy"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        _put_inline(aws, properties)
        return cls(name, name=properties["PolicyName"], roles=properties.get("Roles", []))

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        if old["PolicyName"] != new["PolicyName"]:
            self.delete(aws)
        gone = set(old.get("Roles", [])) - set(new.get("Roles", []))
        for role in sorted(gone):
            aws.client("iam").delete_role_policy(RoleName=role, PolicyName=old["PolicyName"])
        _put_inline(aws, new)
        self.attributes = {"name": new["PolicyName"], "roles": new.get("Roles", [])}

    def delete(self, aws: Aws) -> None:
        for role in self.attributes["roles"]:
            aws.client("iam").delete_role_policy(RoleName=role, PolicyName=self.attributes["name"])


def _put_inline(aws: Aws, properties: Properties) -> None:
    for role in properties.get("Roles", []):
        aws.client("iam").put_role_policy(
            RoleName=role,
            PolicyName=properties["PolicyName"],
            PolicyDocument=json.dumps(properties["PolicyDocument"]),
        )


class ManagedPolicy(Resource):
    """A customer managed policy, attached to roles."""

    TYPE = "AWS::IAM::ManagedPolicy"
    NAME_PROPERTY = "ManagedPolicyName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        iam = aws.client("iam")
        policy = iam.create_policy(
            PolicyName=name,
            PolicyDocument=json.dumps(properties["PolicyDocument"]),
            **only(properties, ("Path", "Description")),
        )["Policy"]
        made = cls(policy["Arn"], PolicyArn=policy["Arn"])
        made._set_roles(aws, {}, properties)
        return made

    def _set_roles(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, arn = aws.client("iam"), self.physical_resource_id
        before, after = set(old.get("Roles", [])), set(new.get("Roles", []))
        for role in sorted(before - after):
            iam.detach_role_policy(RoleName=role, PolicyArn=arn)
        for role in sorted(after - before):
            iam.attach_role_policy(RoleName=role, PolicyArn=arn)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, arn = aws.client("iam"), self.physical_resource_id
        self._set_roles(aws, old, new)
        if old["PolicyDocument"] != new["PolicyDocument"]:
            # IAM keeps five versions at most, and the last one only is used.
            for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
                if not version["IsDefaultVersion"]:
                    iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])
            iam.create_policy_version(
                PolicyArn=arn, PolicyDocument=json.dumps(new["PolicyDocument"]), SetAsDefault=True
            )

    def delete(self, aws: Aws) -> None:
        iam, arn = aws.client("iam"), self.physical_resource_id
        for role in iam.list_entities_for_policy(PolicyArn=arn)["PolicyRoles"]:
            iam.detach_role_policy(RoleName=role["RoleName"], PolicyArn=arn)
        for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
            if not version["IsDefaultVersion"]:
                iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])
        iam.delete_policy(PolicyArn=arn)


class InstanceProfile(Resource):
    """What hands a role to an instance."""

    TYPE = "AWS::IAM::InstanceProfile"
    NAME_PROPERTY = "InstanceProfileName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        iam = aws.client("iam")
        profile = iam.create_instance_profile(
            InstanceProfileName=name, **only(properties, ("Path",))
        )["InstanceProfile"]
        for role in properties["Roles"]:
            iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role)
        return cls(name, Arn=profile["Arn"])

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
