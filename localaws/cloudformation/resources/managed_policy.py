"""AWS::IAM::ManagedPolicy."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class ManagedPolicy(Resource):
    """A customer managed policy, attached to roles, users and groups."""

    TYPE = "AWS::IAM::ManagedPolicy"
    TAGS = ""
    NAME_PROPERTY = "ManagedPolicyName"
    NAME_LIMIT = 128

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        policy = aws.client("iam").create_policy(
            PolicyName=name,
            PolicyDocument=json.dumps(properties["PolicyDocument"]),
            **only(properties, ("Path", "Description")),
        )["Policy"]
        return cls(policy["Arn"], PolicyArn=policy["Arn"])

    def complete(self, aws: Aws, properties: Properties) -> None:
        self._attach(aws.client("iam"), {}, properties)

    def _attach(self, iam: Any, old: Properties, new: Properties) -> None:
        arn = self.physical_resource_id
        for name, kind in _HOLDERS.items():
            before, after = set(old.get(name, [])), set(new.get(name, []))
            for holder in sorted(before - after):
                _call(iam, "detach", kind, holder, arn)
            for holder in sorted(after - before):
                _call(iam, "attach", kind, holder, arn)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        iam, arn = aws.client("iam"), self.physical_resource_id
        self._attach(iam, old, new)
        if old["PolicyDocument"] != new["PolicyDocument"]:
            # IAM keeps five versions at most, and only the last one is used.
            self._delete_old_versions(iam)
            iam.create_policy_version(
                PolicyArn=arn, PolicyDocument=json.dumps(new["PolicyDocument"]), SetAsDefault=True
            )

    def _delete_old_versions(self, iam: Any) -> None:
        arn = self.physical_resource_id
        for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
            if not version["IsDefaultVersion"]:
                iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])

    def read(self, aws: Aws) -> Properties:
        iam, arn = aws.client("iam"), self.physical_resource_id
        policy = iam.get_policy(PolicyArn=arn)["Policy"]
        version = iam.get_policy_version(PolicyArn=arn, VersionId=policy["DefaultVersionId"])
        roles = iam.list_entities_for_policy(PolicyArn=arn)["PolicyRoles"]
        return {
            **only(policy, ("Path", "Description")),
            "PolicyDocument": version["PolicyVersion"]["Document"],
            "Roles": [role["RoleName"] for role in roles],
        }

    def delete(self, aws: Aws) -> None:
        iam, arn = aws.client("iam"), self.physical_resource_id
        holders = iam.list_entities_for_policy(PolicyArn=arn)
        for kind in _HOLDERS.values():
            for holder in holders[f"Policy{kind}s"]:
                _call(iam, "detach", kind, holder[f"{kind}Name"], arn)
        self._delete_old_versions(iam)
        iam.delete_policy(PolicyArn=arn)


_HOLDERS = {"Roles": "Role", "Users": "User", "Groups": "Group"}


def _call(iam: Any, verb: str, kind: str, holder: str, arn: str) -> None:
    """Attach the policy to a role, user or group, or detach it."""
    method = getattr(iam, f"{verb}_{kind.lower()}_policy")
    method(**{f"{kind}Name": holder, "PolicyArn": arn})
