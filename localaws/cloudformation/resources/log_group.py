"""AWS::Logs::LogGroup."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import (
    CannotUpdate,
    Properties,
    Resource,
    camel,
    changed,
    only,
)


class LogGroup(Resource):
    """A log group of CloudWatch Logs."""

    TYPE = "AWS::Logs::LogGroup"
    NAME_PROPERTY = "LogGroupName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        aws.client("logs").create_log_group(
            logGroupName=name,
            tags=_tags(properties),
            **camel(only(properties, ("KmsKeyId", "LogGroupClass"))),
        )
        return cls(
            name, Arn=f"arn:{aws.partition}:logs:{aws.region}:{aws.account_id}:log-group:{name}:*"
        )

    def complete(self, aws: Aws, properties: Properties) -> None:
        self._set_retention(aws, properties)

    def _set_retention(self, aws: Aws, properties: Properties) -> None:
        logs, name = aws.client("logs"), self.physical_resource_id
        if "RetentionInDays" in properties:
            logs.put_retention_policy(
                logGroupName=name, retentionInDays=int(properties["RetentionInDays"])
            )
        else:
            logs.delete_retention_policy(logGroupName=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        logs, name = aws.client("logs"), self.physical_resource_id
        handled = {"RetentionInDays", "KmsKeyId", "Tags"}
        differs = set(changed(old, new))
        if others := differs - handled:
            raise CannotUpdate(", ".join(sorted(others)))
        self._set_retention(aws, new)
        if "KmsKeyId" in differs and "KmsKeyId" in new:
            logs.associate_kms_key(logGroupName=name, kmsKeyId=new["KmsKeyId"])
        elif "KmsKeyId" in differs:
            logs.disassociate_kms_key(logGroupName=name)
        gone, wanted = tags.difference(old, new)
        if gone:
            logs.untag_log_group(logGroupName=name, tags=gone)
        if wanted:
            logs.tag_log_group(logGroupName=name, tags=_tags({"Tags": wanted}))

    def read(self, aws: Aws) -> Properties | None:
        logs, name = aws.client("logs"), self.physical_resource_id
        groups = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        for group in groups:
            if group["logGroupName"] == name:
                given = logs.list_tags_log_group(logGroupName=name)["tags"]
                return {
                    "RetentionInDays": group.get("retentionInDays"),
                    "KmsKeyId": group.get("kmsKeyId"),
                    "Tags": [{"Key": key, "Value": value} for key, value in given.items()],
                }
        return None

    def delete(self, aws: Aws) -> None:
        aws.client("logs").delete_log_group(logGroupName=self.physical_resource_id)


def _tags(properties: Properties) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
