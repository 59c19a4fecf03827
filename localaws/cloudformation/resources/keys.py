"""AWS::KMS::Key and AWS::KMS::Alias."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only
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
            Tags=_tags(properties),
        )["KeyMetadata"]
        made = cls(metadata["KeyId"], Arn=metadata["Arn"], KeyId=metadata["KeyId"])
        made._set_state(aws, properties)
        return made

    def _set_state(self, aws: Aws, properties: Properties) -> None:
        kms, key_id = aws.client("kms"), self.physical_resource_id
        if is_true(properties.get("EnableKeyRotation", False)):
            kms.enable_key_rotation(KeyId=key_id)
        else:
            kms.disable_key_rotation(KeyId=key_id)
        if is_true(properties.get("Enabled", True)):
            kms.enable_key(KeyId=key_id)
        else:
            kms.disable_key(KeyId=key_id)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        kms, key_id = aws.client("kms"), self.physical_resource_id
        if "KeyPolicy" in new:
            kms.put_key_policy(
                KeyId=key_id, PolicyName="default", Policy=json.dumps(new["KeyPolicy"])
            )
        kms.update_key_description(KeyId=key_id, Description=new.get("Description", ""))
        self._set_state(aws, new)
        if _tags(new):
            kms.tag_resource(KeyId=key_id, Tags=_tags(new))

    def delete(self, aws: Aws) -> None:
        aws.client("kms").schedule_key_deletion(KeyId=self.physical_resource_id)


class Alias(Resource):
    """A name for a KMS key."""

    TYPE = "AWS::KMS::Alias"
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


def _tags(properties: Properties) -> list[dict[str, Any]]:
    return [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in properties.get("Tags", [])]
