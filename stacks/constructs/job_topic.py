"""Tells people by e-mail."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stacks.constructs.event_target import EventTarget, EventTargetRole

KEY_KEPT_DAYS = 7
"""The fewest that KMS takes."""


class JobTopic(Construct):
    """An encrypted topic with subscribers, reached over TLS alone.

    Attributes:
        topic: Of SNS; others may subscribe, too.
        target: For rules.
    """

    def __init__(self, scope: Construct, construct_id: str, *, emails: Sequence[str]) -> None:
        super().__init__(scope, construct_id)
        key = kms.Key(
            self,
            "Key",
            description="Encrypts what is told of training jobs until it is sent",
            enable_key_rotation=True,
            # It opens nothing that stays.
            removal_policy=RemovalPolicy.DESTROY,
            pending_window=Duration.days(KEY_KEPT_DAYS),
        )
        self.topic = sns.Topic(
            self,
            "Topic",
            display_name="Training jobs",
            master_key=key,
            enforce_ssl=True,
        )
        for address in emails:
            self.topic.add_subscription(subscriptions.EmailSubscription(address))
        role = EventTargetRole(
            self,
            "Publisher",
            description="EventBridge tells a topic how training jobs do",
            statements=[
                iam.PolicyStatement(actions=["sns:Publish"], resources=[self.topic.topic_arn]),
                # https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
                iam.PolicyStatement(
                    actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[key.key_arn]
                ),
            ],
        )
        self.target = EventTarget(
            name="Topic", arn=self.topic.topic_arn, role_arn=role.arn, audience="people"
        )
