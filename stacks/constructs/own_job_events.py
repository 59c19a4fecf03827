"""The events that this project sends itself, of jobs on platforms that send none."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from stacks.constructs.job_event_kind import JobEventKind
from stacks.constructs.job_message import JobWords
from stacks.settings.notifications import JobChange

SOURCE = "distributed-mask-rcnn"
DETAIL_TYPE = "Training Job State Change"

PLATFORMS = ("ec2",)
"""Whose jobs are told so, in the words of `python -m training.launch --platform`."""

WORDS = JobWords(
    # As node/conductor/job_event.py writes it.
    paths={
        "job": "$.detail.job",
        "platform": "$.detail.platform",
        "status": "$.detail.status",
        "secondary_status": "$.detail.state",
        "reason": "$.detail.reason",
    },
    headline="Training job <job> on <platform>: <status> (<secondary_status>)",
    command="python -m training.jobs status <job> --platform <platform>",
    fields={
        "job": "<job>",
        "platform": "<platform>",
        "status": "<status>",
        "secondary_status": "<secondary_status>",
    },
    # node/conductor/reason.py leaves no quote in it, and no backslash.
    reason_is_plain=True,
)


def of_this_project(changes: Sequence[JobChange]) -> JobEventKind:
    """Return the events that nodes put on the default bus of this account.

    Whoever may call PutEvents there can name any source but AWS's own. What other accounts send,
    where the bus has a policy that lets them, keeps their number, and is left out.
    """
    return JobEventKind(
        rules="Own",
        description="Jobs that distributed Mask R-CNN runs on nodes of its own",
        pattern={
            "source": [SOURCE],
            "detail-type": [DETAIL_TYPE],
            "account": [Aws.ACCOUNT_ID],
        },
        detail={"platform": list(PLATFORMS), "status": list(changes)},
        reason="reason",
        words=WORDS,
    )


def may_tell() -> iam.PolicyStatement:
    """Return what who sends them may: put this kind of event on that bus.

    By hand: `EventBus.grant_put_events_to` knows no condition.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridge.html
    """
    return iam.PolicyStatement(
        actions=["events:PutEvents"],
        resources=[
            f"arn:{Aws.PARTITION}:events:{Aws.REGION}:{Aws.ACCOUNT_ID}:event-bus/default",
        ],
        conditions={"StringEquals": {"events:source": SOURCE, "events:detail-type": DETAIL_TYPE}},
    )
