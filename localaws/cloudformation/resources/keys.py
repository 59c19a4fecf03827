"""AWS::KMS::Key and AWS::KMS::Alias."""

from __future__ import annotations

import json
from typing import Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import CannotUpdate, Properties, Resource, changed, only
from localaws.cloudformation.resources.network import is_true


class Key(Resource):
    """A KMS key."""

    TYPE = "AWS::KMS::Key"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        policy = (
            {"Policy": json.dumps(properties["KeyPolicy"])} if "KeyPolicy" in properties else {}
        )
        metadata = aws.client("kms").create_key(
            **only(properties, ("Description", "KeyUsage", "KeySpec", "MultiRegion")),
            **policy,
            Tags=_tags(properties.get("Tags", [])),
        )["KeyMetadata"]
        return cls(
            metadata["KeyId"],
            Arn=metadata["Arn"],
            KeyId=metadata["KeyId"],
            pending_days=_pending_days(properties),
        )

    def complete(self, aws: Aws, properties: Properties) -> None:
        self._set_state(aws, {}, properties)

    def _set_state(self, aws: Aws, old: Properties, new: Properties) -> None:
        kms, key_id = aws.client("kms"), self.physical_resource_id
        if _rotates(old) != _rotates(new):
            rotate = kms.enable_key_rotation if _rotates(new) else kms.disable_key_rotation
            rotate(KeyId=key_id)
        if _is_enabled(old) != _is_enabled(new):
            enable = kms.enable_key if _is_enabled(new) else kms.disable_key
            enable(KeyId=key_id)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        kms, key_id = aws.client("kms"), self.physical_resource_id
        differs = set(changed(old, new))
        if others := differs - _CHANGEABLE:
            # AWS keeps the key too, and refuses.
            raise CannotUpdate(", ".join(sorted(others)))
        if "KeyPolicy" in new and "KeyPolicy" in differs:
            kms.put_key_policy(
                KeyId=key_id, PolicyName="default", Policy=json.dumps(new["KeyPolicy"])
            )
        if "Description" in differs:
            kms.update_key_description(KeyId=key_id, Description=new.get("Description", ""))
        self._set_state(aws, old, new)
        self.attributes["pending_days"] = _pending_days(new)
        gone, wanted = tags.difference(old, new)
        if gone:
            kms.untag_resource(KeyId=key_id, TagKeys=gone)
        if wanted:
            kms.tag_resource(KeyId=key_id, Tags=_tags(wanted))

    def read(self, aws: Aws) -> Properties | None:
        kms, key_id = aws.client("kms"), self.physical_resource_id
        metadata = kms.describe_key(KeyId=key_id)["KeyMetadata"]
        if metadata["KeyState"] == "PendingDeletion":
            return None
        policy = kms.get_key_policy(KeyId=key_id, PolicyName="default")["Policy"]
        return {
            **only(metadata, ("Description", "Enabled", "KeySpec", "KeyUsage", "MultiRegion")),
            "KeyPolicy": json.loads(policy),
            "EnableKeyRotation": kms.get_key_rotation_status(KeyId=key_id)["KeyRotationEnabled"],
            "Tags": [
                {"Key": tag["TagKey"], "Value": tag["TagValue"]}
                for tag in kms.list_resource_tags(KeyId=key_id)["Tags"]
            ],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("kms").schedule_key_deletion(
            KeyId=self.physical_resource_id, PendingWindowInDays=self.attributes["pending_days"]
        )


_CHANGEABLE = {
    "Description",
    "EnableKeyRotation",
    "Enabled",
    "KeyPolicy",
    "PendingWindowInDays",
    "Tags",
}


def _rotates(properties: Properties) -> bool:
    return is_true(properties.get("EnableKeyRotation", False))


def _is_enabled(properties: Properties) -> bool:
    return is_true(properties.get("Enabled", True))


def _pending_days(properties: Properties) -> int:
    return int(properties.get("PendingWindowInDays", 30))


class Alias(Resource):
    """A name for a KMS key."""

    TYPE = "AWS::KMS::Alias"
    TAGS = ""
    NAME_PROPERTY = "AliasName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        aws.client("kms").create_alias(AliasName=name, TargetKeyId=properties["TargetKeyId"])
        return cls(name, AliasName=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        aws.client("kms").update_alias(
            AliasName=self.physical_resource_id, TargetKeyId=new["TargetKeyId"]
        )

    def delete(self, aws: Aws) -> None:
        aws.client("kms").delete_alias(AliasName=self.physical_resource_id)


def _tags(given: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in given]
