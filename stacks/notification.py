"""NotificationStack: tells people and programs how training jobs do."""

from __future__ import annotations

from typing import Any

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.event_target import EventTarget
from stacks.constructs.job_events import JobEvents
from stacks.constructs.job_topic import JobTopic
from stacks.constructs.own_job_events import of_this_project
from stacks.constructs.sagemaker_job_events import of_sagemaker
from stacks.constructs.webhook import Webhook
from stacks.settings import Settings


class NotificationStack(Stack):
    """A topic, a webhook or both, and the rules that send them what happens to jobs.

    It is there only where the settings name somebody to tell. Its outputs are for people: nothing
    of `training` reads them.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        training_role: iam.IRole,
        **stack_options: Any,
    ) -> None:
        """Build it.

        Args:
            settings: All of them.
            training_role: What jobs on SageMaker act as.
            stack_options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **stack_options)
        wanted = settings.notifications
        targets: list[EventTarget] = []
        if wanted.emails:
            people = JobTopic(self, "People", emails=wanted.emails)
            targets.append(people.target)
            CfnOutput(self, "TopicArn", value=people.topic.topic_arn)
        if wanted.webhook_secret_arn:
            targets.append(Webhook(self, "Webhook", secret_arn=wanted.webhook_secret_arn).target)
        jobs = JobEvents(
            self,
            "Jobs",
            kinds=[
                of_sagemaker(training_role_arn=training_role.role_arn, changes=wanted.states),
                of_this_project(wanted.states),
            ],
            targets=targets,
        )
        CfnOutput(self, "UndeliveredQueueUrl", value=jobs.undelivered.queue_url)
