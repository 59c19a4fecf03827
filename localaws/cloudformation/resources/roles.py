"""IAM roles and their inline policies."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, changed, only


class Role(Resource):
    """A role with its inline and managed policies."""

    TYPE = "AWS::IAM::Role"
    NAME_PROPERTY = "RoleName"
    NAME_LIMIT = 64

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        role = aws.client("iam").create_role(
            RoleName=name,
            AssumeRolePolicyDocument=json.dumps(properties["AssumeRolePolicyDocument"]),
            MaxSessionDuration=_session_s(properties),
            **only(properties, ("Path", "Description", "PermissionsBoundary", "Tags")),
        )["Role"]
        return cls(name, Arn=role["Arn"], RoleId=role["RoleId"], inline=[], attached=[])

    def complete(self, aws: Aws, properties: Properties) -> None:
        self._set_policies(aws, {}, properties)

    def _set_policies(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, name = aws.client("iam"), self.physical_resource_id
        before, after = _inline(old), _inline(new)
        attached = set(old.get("ManagedPolicyArns", []))
        wanted = set(new.get("ManagedPolicyArns", []))
        # Both, until all is done: what a failure leaves has to be deleted too.
        self.attributes |= {"inline": [*before, *after], "attached": [*attached, *wanted]}
        for policy in before.keys() - after.keys():
            iam.delete_role_policy(RoleName=name, PolicyName=policy)
        for policy, document in after.items():
            iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=document)
        for arn in sorted(attached - wanted):
            iam.detach_role_policy(RoleName=name, PolicyArn=arn)
        for arn in sorted(wanted - attached):
            iam.attach_role_policy(RoleName=name, PolicyArn=arn)
        self.attributes |= {"inline": sorted(after), "attached": sorted(wanted)}

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, name = aws.client("iam"), self.physical_resource_id
        differs = set(changed(old, new))
        if "AssumeRolePolicyDocument" in differs:
            iam.update_assume_role_policy(
                RoleName=name, PolicyDocument=json.dumps(new["AssumeRolePolicyDocument"])
            )
        if differs & {"Description", "MaxSessionDuration"}:
            iam.update_role(
                RoleName=name,
                Description=new.get("Description", ""),
                MaxSessionDuration=_session_s(new),
            )
        if "PermissionsBoundary" in differs:
            _set_boundary(iam, name, new.get("PermissionsBoundary"))
        self._set_policies(aws, old, new)
        gone, wanted = tags.difference(old, new)
        if gone:
            iam.untag_role(RoleName=name, TagKeys=gone)
        if wanted:
            iam.tag_role(RoleName=name, Tags=wanted)

    def read(self, aws: Aws) -> Properties:
        iam, name = aws.client("iam"), self.physical_resource_id
        role = iam.get_role(RoleName=name)["Role"]
        return {
            **only(role, ("AssumeRolePolicyDocument", "Path", "Description", "MaxSessionDuration")),
            "PermissionsBoundary": role.get("PermissionsBoundary", {}).get(
                "PermissionsBoundaryArn"
            ),
            "Tags": role.get("Tags", []),
        }

    def delete(self, aws: Aws) -> None:
        # What others attached stays, and IAM refuses then, as in AWS.
        iam, name = aws.client("iam"), self.physical_resource_id
        inline = iam.list_role_policies(RoleName=name)["PolicyNames"]
        for policy in set(self.attributes["inline"]) & set(inline):
            iam.delete_role_policy(RoleName=name, PolicyName=policy)
        for policy in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
            if policy["PolicyArn"] in self.attributes["attached"]:
                iam.detach_role_policy(RoleName=name, PolicyArn=policy["PolicyArn"])
        iam.delete_role(RoleName=name)


def _session_s(properties: Properties) -> int:
    return int(properties.get("MaxSessionDuration", 3600))


def _set_boundary(iam: Any, role: str, arn: str | None) -> None:
    if arn is None:
        iam.delete_role_permissions_boundary(RoleName=role)
    else:
        iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=arn)


def _inline(properties: Properties) -> dict[str, str]:
    return {
        policy["PolicyName"]: json.dumps(policy["PolicyDocument"])
        for policy in properties.get("Policies", [])
    }


class Policy(Resource):
    """An inline policy written apart from the roles that it is put into."""

    TYPE = "AWS::IAM::Policy"
    TAGS = ""

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
