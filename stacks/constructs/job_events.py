"""The events of training jobs, brought to whom they are told."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.event_target import EVENTBRIDGE, EventTarget
from stacks.constructs.job_event_kind import JobEventKind

RETRIED_S = 4 * 60 * 60
"""How long EventBridge tries to bring an event to a target that does not answer. What is older
says nothing that `python -m training.jobs status` does not."""

MOST_RETRIES = 185
"""The most that EventBridge takes: within those hours it tries as often as it likes."""

UNDELIVERED_KEPT_DAYS = 14
"""The most that SQS takes."""


class JobEvents(Construct):
    """Rules for the events of training jobs, and a queue for what cannot be brought.

    Attributes:
        undelivered: The queue.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        kinds: Sequence[JobEventKind],
        targets: Sequence[EventTarget],
    ) -> None:
        """Build it.

        Args:
            kinds: What is told.
            targets: Where to.
        """
        super().__init__(scope, construct_id)
        self.undelivered = sqs.Queue(
            self,
            "Undelivered",
            # Not with a key of ours: its policy could not say for which rules EventBridge uses it.
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(UNDELIVERED_KEPT_DAYS),
        )
        # Two of a kind, since a message for which the event has no reason would have a line about
        # nothing.
        rules = [
            self._rule(kind, targets, has_reason=has_reason)
            for kind in kinds
            for has_reason in (False, True)
        ]
        # https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
        self.undelivered.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(EVENTBRIDGE)],
                actions=["sqs:SendMessage"],
                resources=[self.undelivered.queue_arn],
                conditions={"ArnEquals": {"aws:SourceArn": [rule.attr_arn for rule in rules]}},
            )
        )

    def _rule(
        self, kind: JobEventKind, targets: Sequence[EventTarget], *, has_reason: bool
    ) -> events.CfnRule:
        """Return a rule for events with or without a reason.

        L1: the targets of the L2 give their roles inline policies.
        """
        return events.CfnRule(
            self,
            kind.rules + ("WithReason" if has_reason else "Plain"),
            description=kind.description + (", where the event says why" if has_reason else ""),
            event_pattern=kind.pattern_of(has_reason=has_reason),
            targets=[self._target(kind, each, has_reason=has_reason) for each in targets],
        )

    def _target(
        self, kind: JobEventKind, target: EventTarget, *, has_reason: bool
    ) -> events.CfnRule.TargetProperty:
        template = kind.words.template(target.audience, has_reason=has_reason)
        return events.CfnRule.TargetProperty(
            id=target.name,
            arn=target.arn,
            role_arn=target.role_arn,
            input_transformer=events.CfnRule.InputTransformerProperty(
                input_template=template, input_paths_map=kind.words.paths_of(template)
            ),
            retry_policy=events.CfnRule.RetryPolicyProperty(
                maximum_event_age_in_seconds=RETRIED_S, maximum_retry_attempts=MOST_RETRIES
            ),
            dead_letter_config=events.CfnRule.DeadLetterConfigProperty(
                arn=self.undelivered.queue_arn
            ),
        )
