"""Events of training jobs as SageMaker sends them.

https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""

from __future__ import annotations

from typing import Any

TRAINING_ROLE = "arn:aws:iam::123456789012:role/training/StorageStack-TrainingRole4C1607BC-x"

JOB = "mask-rcnn-s3-1"

RUNNING = {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Training"}
COMPLETED = {"TrainingJobStatus": "Completed", "SecondaryStatus": "Completed"}
FAILED = {
    "TrainingJobStatus": "Failed",
    "SecondaryStatus": "Failed",
    "FailureReason": "AlgorithmError: exit code 1",
}
STOPPED = {"TrainingJobStatus": "Stopped", "SecondaryStatus": "MaxRuntimeExceeded"}


def event_of(state: dict[str, Any], **detail: Any) -> dict[str, Any]:
    """Return the event of a job of this project in a state; other details on top."""
    arn = f"arn:aws:sagemaker:us-west-2:123456789012:training-job/{JOB}"
    return {
        "version": "0",
        "id": "844e2571-85d4-695f-b930-0153b71dcb42",
        "detail-type": "SageMaker Training Job State Change",
        "source": "aws.sagemaker",
        "account": "123456789012",
        "time": "2026-07-14T12:26:13Z",
        "region": "us-west-2",
        "resources": [arn],
        "detail": {
            "TrainingJobName": JOB,
            "TrainingJobArn": arn,
            "HyperParameters": {"epochs": "24"},
            "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
            "RoleArn": TRAINING_ROLE,
            "InputDataConfig": [{"ChannelName": "train"}],
            "OutputDataConfig": {"KmsKeyId": "", "S3OutputPath": "s3://bucket/output"},
            "ResourceConfig": {"InstanceType": "ml.p3.16xlarge", "InstanceCount": 4},
            "VpcConfig": {},
            "StoppingCondition": {"MaxRuntimeInSeconds": 400000},
            "CreationTime": "1583831889050",
            "LastModifiedTime": "1583831889050",
            "SecondaryStatusTransitions": [],
            "Tags": {},
            **state,
            **detail,
        },
    }
