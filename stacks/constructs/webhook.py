"""Tells programs: a POST to an address of the user's."""

from __future__ import annotations

from aws_cdk import SecretValue
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.event_target import EventTarget, EventTargetRole

HEADER = "Authorization"

MOST_A_SECOND = 5
"""EventBridge holds back what is more; jobs change more slowly."""


class Webhook(Construct):
    """An API destination of EventBridge, whose address and authorization are in a secret.

    CloudFormation reads the secret when it makes the destination, so that no template has them:
    https://docs.aws.amazon.com/secretsmanager/latest/userguide/cfn-example_reference-secret.html

    Attributes:
        target: For rules.
    """

    def __init__(self, scope: Construct, construct_id: str, *, secret_arn: str) -> None:
        """Build it.

        Args:
            secret_arn: Of the secret; its text is a JSON object with `url` and `authorization`.
        """
        super().__init__(scope, construct_id)
        connection = events.Connection(
            self,
            "Connection",
            description="What the webhook of training jobs asks for",
            authorization=events.Authorization.api_key(HEADER, _read(secret_arn, "authorization")),
        )
        destination = events.ApiDestination(
            self,
            "Destination",
            description="The webhook of training jobs",
            connection=connection,
            # The property is a plain text; what stands in the template is the reference.
            endpoint=_read(secret_arn, "url").unsafe_unwrap(),
            http_method=events.HttpMethod.POST,
            rate_limit_per_second=MOST_A_SECOND,
        )
        role = EventTargetRole(
            self,
            "Caller",
            description="EventBridge tells a webhook how training jobs do",
            statements=[
                iam.PolicyStatement(
                    actions=["events:InvokeApiDestination"],
                    resources=[destination.api_destination_arn],
                )
            ],
        )
        self.target = EventTarget(
            name="Webhook",
            arn=destination.api_destination_arn,
            role_arn=role.arn,
            audience="programs",
        )


def _read(secret_arn: str, field: str) -> SecretValue:
    return SecretValue.secrets_manager(secret_arn, json_field=field)
