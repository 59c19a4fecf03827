"""AWS::Logs::LogGroup."""

from __future__ import annotations

from typing import Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource


class LogGroup(Resource):
    """A log group of CloudWatch Logs."""

    TYPE = "AWS::Logs::LogGroup"
    NAME_PROPERTY = "LogGroupName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        arguments = {"logGroupName": name, "tags": _tags(properties)}
        if "KmsKeyId" in properties:
            arguments["kmsKeyId"] = properties["KmsKeyId"]
        aws.client("logs").create_log_group(**arguments)
        made = cls(name, Arn=f"arn:aws:logs:{aws.region}:{aws.account_id}:log-group:{name}:*")
        made._set_retention(aws, properties)
        return made

    def _set_retention(self, aws: Aws, properties: Properties) -> None:
        logs, name = aws.client("logs"), self.physical_resource_id
        if "RetentionInDays" in properties:
            logs.put_retention_policy(
                logGroupName=name, retentionInDays=int(properties["RetentionInDays"])
            )
        else:
            logs.delete_retention_policy(logGroupName=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        self._set_retention(aws, new)
        logs, name = aws.client("logs"), self.physical_resource_id
        if gone := sorted(_tags(old).keys() - _tags(new).keys()):
            logs.untag_log_group(logGroupName=name, tags=gone)
        if _tags(new):
            logs.tag_log_group(logGroupName=name, tags=_tags(new))

    def delete(self, aws: Aws) -> None:
        aws.client("logs").delete_log_group(logGroupName=self.physical_resource_id)


def _tags(properties: Properties) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
