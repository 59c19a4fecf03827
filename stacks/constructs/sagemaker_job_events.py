"""The events that SageMaker sends of its training jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacks.constructs.job_event_kind import JobEventKind
from stacks.constructs.job_message import JobWords
from stacks.settings.notifications import JobChange

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html
_STATUSES: Mapping[JobChange, tuple[str, str | None]] = {
    # A running job has an event for every step from the instances on; this one begins the training.
    "started": ("InProgress", "Training"),
    "completed": ("Completed", None),
    "failed": ("Failed", None),
    "stopped": ("Stopped", None),
}
"""Change to TrainingJobStatus and, where that is not enough, SecondaryStatus."""

WORDS = JobWords(
    # https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
    paths={
        "job": "$.detail.TrainingJobName",
        "status": "$.detail.TrainingJobStatus",
        "secondary_status": "$.detail.SecondaryStatus",
        "reason": "$.detail.FailureReason",
    },
    headline="Training job <job>: <status> (<secondary_status>)",
    command="python -m training.jobs status <job>",
    fields={
        "job": "<job>",
        "platform": "sagemaker",
        "status": "<status>",
        "secondary_status": "<secondary_status>",
    },
    # It is what the job itself wrote, quotes and all.
    reason_is_plain=False,
)


def of_sagemaker(*, training_role_arn: str, changes: Sequence[JobChange]) -> JobEventKind:
    """Return the events of this project's jobs.

    Those are the ones with the training role: every launch hands it over, to train or to stage
    data, and no other project does. The event has the job's tags, too, but AWS shows them as a map
    in one place and as keys and values in another.
    https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
    https://docs.aws.amazon.com/cdk/api/v2/python/aws_cdk.mixins_preview.aws_sagemaker.events/SageMakerTrainingJobStateChange.html
    """
    return JobEventKind(
        rules="",
        description="Training jobs of distributed Mask R-CNN",
        pattern={
            "source": ["aws.sagemaker"],
            "detail-type": ["SageMaker Training Job State Change"],
        },
        detail={"RoleArn": [training_role_arn], **_one_of(changes)},
        reason="FailureReason",
        words=WORDS,
    )


def _one_of(changes: Sequence[JobChange]) -> dict[str, Any]:
    """Return the part of a pattern for changes: their statuses, and where it takes both, either."""
    whole = [status for status, step in map(_STATUSES.__getitem__, changes) if step is None]
    alternatives: list[dict[str, Any]] = [{"TrainingJobStatus": whole}] if whole else []
    alternatives += [
        {"TrainingJobStatus": [status], "SecondaryStatus": [step]}
        for status, step in map(_STATUSES.__getitem__, changes)
        if step is not None
    ]
    return alternatives[0] if len(alternatives) == 1 else {"$or": alternatives}
