"""The events of training jobs, brought to whom they are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.event_target import EVENTBRIDGE, EventTarget
from stacks.constructs.job_message import paths_of
from stacks.settings.notifications import JobChange

RETRIED_S = 4 * 60 * 60
"""How long EventBridge tries to bring an event to a target that does not answer. What is older
says nothing that `python -m training.jobs status` does not."""

MOST_RETRIES = 185
"""The most that EventBridge takes: within those hours it tries as often as it likes."""

UNDELIVERED_KEPT_DAYS = 14
"""The most that SQS takes."""

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html
_OF_SAGEMAKER: Mapping[JobChange, tuple[str, str | None]] = {
    # A running job has an event for every step from the instances on; this one begins the training.
    "started": ("InProgress", "Training"),
    "completed": ("Completed", None),
    "failed": ("Failed", None),
    "stopped": ("Stopped", None),
}
"""Change to TrainingJobStatus and, where that is not enough, SecondaryStatus."""


class JobEvents(Construct):
    """Rules for the events of SageMaker's training jobs, and a queue for what cannot be brought.

    A job of this project is one with the training role: every launch hands it over, to train or to
    stage data, and no other project does. The event has the job's tags, too, but AWS shows them as
    a map in one place and as keys and values in another.
    https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
    https://docs.aws.amazon.com/cdk/api/v2/python/aws_cdk.mixins_preview.aws_sagemaker.events/SageMakerTrainingJobStateChange.html

    Attributes:
        undelivered: The queue.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        training_role_arn: str,
        changes: Sequence[JobChange],
        targets: Sequence[EventTarget],
    ) -> None:
        """Build it.

        Args:
            training_role_arn: What jobs act as.
            changes: What is told of a job.
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
        pattern = pattern_of(training_role_arn, changes)
        # Two, since a message for which the event has no reason would have a line about nothing.
        rules = [
            self._rule("Plain", pattern, targets, has_reason=False),
            self._rule("WithReason", pattern, targets, has_reason=True),
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
        self,
        rule_id: str,
        pattern: Mapping[str, Any],
        targets: Sequence[EventTarget],
        *,
        has_reason: bool,
    ) -> events.CfnRule:
        """Return a rule for events with or without a failure's reason.

        L1: the targets of the L2 give their roles inline policies.
        """
        detail = {**pattern["detail"], "FailureReason": [{"exists": has_reason}]}
        return events.CfnRule(
            self,
            rule_id,
            description="Training jobs of distributed Mask R-CNN"
            + (", with the reason of a failure" if has_reason else ""),
            event_pattern={**pattern, "detail": detail},
            targets=[self._target(each, has_reason=has_reason) for each in targets],
        )

    def _target(self, target: EventTarget, *, has_reason: bool) -> events.CfnRule.TargetProperty:
        template = target.message.with_reason if has_reason else target.message.plain
        return events.CfnRule.TargetProperty(
            id=target.name,
            arn=target.arn,
            role_arn=target.role_arn,
            input_transformer=events.CfnRule.InputTransformerProperty(
                input_template=template, input_paths_map=paths_of(template)
            ),
            retry_policy=events.CfnRule.RetryPolicyProperty(
                maximum_event_age_in_seconds=RETRIED_S, maximum_retry_attempts=MOST_RETRIES
            ),
            dead_letter_config=events.CfnRule.DeadLetterConfigProperty(
                arn=self.undelivered.queue_arn
            ),
        )


def pattern_of(training_role_arn: str, changes: Sequence[JobChange]) -> dict[str, Any]:
    """Return what an event is that is told.

    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
    """
    return {
        "source": ["aws.sagemaker"],
        "detail-type": ["SageMaker Training Job State Change"],
        "detail": {"RoleArn": [training_role_arn], **_one_of(changes)},
    }


def _one_of(changes: Sequence[JobChange]) -> dict[str, Any]:
    """Return the part of a pattern for changes: their statuses, and where it takes both, either."""
    whole = [status for status, step in map(_OF_SAGEMAKER.__getitem__, changes) if step is None]
    alternatives: list[dict[str, Any]] = [{"TrainingJobStatus": whole}] if whole else []
    alternatives += [
        {"TrainingJobStatus": [status], "SecondaryStatus": [step]}
        for status, step in map(_OF_SAGEMAKER.__getitem__, changes)
        if step is not None
    ]
    return alternatives[0] if len(alternatives) == 1 else {"$or": alternatives}
