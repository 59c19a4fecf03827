"""AWS::SQS::Queue and AWS::SQS::QueuePolicy."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import CannotUpdate, Properties, Resource, changed

_NO_ATTRIBUTES = ("QueueName", "Tags")


class Queue(Resource):
    """A queue of SQS."""

    TYPE = "AWS::SQS::Queue"
    NAME_PROPERTY = "QueueName"
    NAME_LIMIT = 80

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        sqs = aws.client("sqs")
        url = sqs.create_queue(
            QueueName=name, Attributes=_attributes(properties), tags=_tags(properties)
        )["QueueUrl"]
        shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return cls(url, Arn=shown["Attributes"]["QueueArn"], QueueName=name, QueueUrl=url)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        sqs, url = aws.client("sqs"), self.physical_resource_id
        if gone := _attributes(old).keys() - _attributes(new).keys():
            raise CannotUpdate(", ".join(sorted(gone)))
        sqs.set_queue_attributes(QueueUrl=url, Attributes=_attributes(new))
        if "Tags" in changed(old, new):
            # Of a queue, tags come and go by names.
            left = _tags(old).keys() - _tags(new).keys()
            if left:
                sqs.untag_queue(QueueUrl=url, TagKeys=sorted(left))
            sqs.tag_queue(QueueUrl=url, Tags=_tags(new))

    def read(self, aws: Aws) -> Properties | None:
        sqs, url = aws.client("sqs"), self.physical_resource_id
        shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        given = sqs.list_queue_tags(QueueUrl=url).get("Tags", {})
        return {**shown, "Tags": [{"Key": key, "Value": value} for key, value in given.items()]}

    def delete(self, aws: Aws) -> None:
        aws.client("sqs").delete_queue(QueueUrl=self.physical_resource_id)


def _attributes(properties: Properties) -> dict[str, str]:
    return {name: _text(value) for name, value in properties.items() if name not in _NO_ATTRIBUTES}


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tags(properties: Properties) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}


class QueuePolicy(Resource):
    """Who may do what with queues."""

    TYPE = "AWS::SQS::QueuePolicy"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        _set_policy(aws, properties["Queues"], json.dumps(properties["PolicyDocument"]))
        return cls(name, Id=name, queues=properties["Queues"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        _set_policy(aws, new["Queues"], json.dumps(new["PolicyDocument"]))
        self.attributes["queues"] = new["Queues"]

    def delete(self, aws: Aws) -> None:
        _set_policy(aws, self.attributes["queues"], "")


def _set_policy(aws: Aws, urls: list[str], policy: str) -> None:
    for url in urls:
        aws.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
