"""AWS::Events::Connection and AWS::Events::ApiDestination."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only

# Neither is read for drift: both hold what the template has from a secret.


class Connection(Resource):
    """What an HTTP endpoint asks for; EventBridge keeps it in a secret of its own."""

    TYPE = "AWS::Events::Connection"
    NAME_PROPERTY = "Name"
    NAME_LIMIT = 64
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        events = aws.client("events")
        events.create_connection(Name=name, **_of_connection(properties))
        shown = events.describe_connection(Name=name)
        return cls(name, Arn=shown["ConnectionArn"], SecretArn=shown["SecretArn"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        aws.client("events").update_connection(
            Name=self.physical_resource_id, **_of_connection(new)
        )

    def delete(self, aws: Aws) -> None:
        aws.client("events").delete_connection(Name=self.physical_resource_id)


def _of_connection(properties: Properties) -> dict[str, Any]:
    # moto's answer to DescribeConnection is none without a description.
    return {
        "Description": "",
        **only(properties, ("Description", "AuthorizationType", "AuthParameters")),
    }


class ApiDestination(Resource):
    """An HTTP endpoint that rules send events to."""

    TYPE = "AWS::Events::ApiDestination"
    NAME_PROPERTY = "Name"
    NAME_LIMIT = 64
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        made = aws.client("events").create_api_destination(Name=name, **_of_destination(properties))
        return cls(name, Arn=made["ApiDestinationArn"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        aws.client("events").update_api_destination(
            Name=self.physical_resource_id, **_of_destination(new)
        )

    def delete(self, aws: Aws) -> None:
        aws.client("events").delete_api_destination(Name=self.physical_resource_id)


def _of_destination(properties: Properties) -> dict[str, Any]:
    named = ("ConnectionArn", "HttpMethod", "InvocationEndpoint")
    rate = properties.get("InvocationRateLimitPerSecond")
    return {
        "Description": properties.get("Description", ""),
        **only(properties, named),
        # Numbers come as texts.
        **({} if rate is None else {"InvocationRateLimitPerSecond": int(rate)}),
    }
