"""Has the SageMaker SDK 3 launch jobs, and writes what it would send.

Run by tests/training/platforms/sagemaker/test_sdk.py in an environment of its own (see
model_trainer.txt): a list of CreateTrainingJob bodies comes on stdin, and a list of the bodies that
`ModelTrainer` makes of the same jobs goes to stdout. Nothing is sent anywhere.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from typing import Any

ARN = "arn:aws:sagemaker:us-west-2:123456789012:training-job/captured"

os.environ.update(
    AWS_ACCESS_KEY_ID="none",
    AWS_SECRET_ACCESS_KEY="none",
    AWS_DEFAULT_REGION="us-west-2",
    AWS_EC2_METADATA_DISABLED="true",
    SAGEMAKER_VALIDATE_ROLE="false",
)

sent: list[dict[str, Any]] = []


def answer(client: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Keep what would be sent to create a job, and answer in SageMaker's place."""
    if operation == "CreateTrainingJob":
        sent.append(parameters)
        return {"TrainingJobArn": ARN}
    if operation == "DescribeTrainingJob":
        return {**sent[-1], "TrainingJobArn": ARN, "TrainingJobStatus": "InProgress"}
    raise AssertionError(f"{operation} is not expected")


def launch(body: dict[str, Any]) -> dict[str, Any]:
    """Return what the SDK sends for the job of a body."""
    from sagemaker.core import shapes
    from sagemaker.core.helper.session_helper import Session
    from sagemaker.train import ModelTrainer
    from sagemaker.train import configs as c

    resources, network = dict(body["ResourceConfig"]), body["VpcConfig"]
    trainer = ModelTrainer(
        sagemaker_session=Session(default_bucket="bucket"),
        training_image=body["AlgorithmSpecification"]["TrainingImage"],
        training_input_mode=body["AlgorithmSpecification"]["TrainingInputMode"],
        role=body["RoleArn"],
        base_job_name="captured",
        compute=c.Compute(
            **snake(resources),
            enable_managed_spot_training=body.get("EnableManagedSpotTraining"),
        ),
        networking=c.Networking(
            **snake(network),
            enable_network_isolation=body.get("EnableNetworkIsolation"),
            enable_inter_container_traffic_encryption=body.get(
                "EnableInterContainerTrafficEncryption"
            ),
        ),
        stopping_condition=c.StoppingCondition(**snake(body["StoppingCondition"])),
        output_data_config=c.OutputDataConfig(**snake(body["OutputDataConfig"])),
        hyperparameters=body["HyperParameters"],
        environment=body["Environment"],
        tags=[c.Tag(**snake(tag)) for tag in body["Tags"]],
    ).with_metric_definitions(
        [
            c.MetricDefinition(**snake(m))
            for m in body["AlgorithmSpecification"]["MetricDefinitions"]
        ]
    )
    if "CheckpointConfig" in body:
        trainer.checkpoint_config = shapes.CheckpointConfig(**snake(body["CheckpointConfig"]))
    if "TensorBoardOutputConfig" in body:
        trainer.with_tensorboard_output_config(
            shapes.TensorBoardOutputConfig(**snake(body["TensorBoardOutputConfig"]))
        )
    if "RetryStrategy" in body:
        trainer.with_retry_strategy(c.RetryStrategy(**snake(body["RetryStrategy"])))
    if "InfraCheckConfig" in body:
        trainer.with_infra_check_config(c.InfraCheckConfig(**snake(body["InfraCheckConfig"])))
    inputs = [
        c.InputData(channel_name=channel["ChannelName"], data_source=source(channel))
        for channel in body["InputDataConfig"]
    ]
    trainer.train(input_data_config=inputs, wait=False, logs=False)
    return sent[-1]


def source(channel: dict[str, Any]) -> Any:
    from sagemaker.train import configs as c

    ((kind, fields),) = channel["DataSource"].items()
    return getattr(c, kind)(**snake(fields))


def snake(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a structure of the API under the SDK's names."""
    from sagemaker.core.utils.code_injection.codec import pascal_to_snake

    return {pascal_to_snake(name): value for name, value in fields.items()}


def main() -> None:
    import botocore.client

    botocore.client.BaseClient._make_api_call = answer
    with redirect_stdout(sys.stderr):
        requests = [launch(body) for body in json.load(sys.stdin)]
    json.dump(requests, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
