"""What a job leaves on S3: model and logs, checkpoints, TensorBoard's events."""

from __future__ import annotations

from typing import Any

from training.job import Job
from training.outputs import StorageOutputs
from training.platforms.sagemaker.channels import CHECKPOINT_FOLDER
from training.platforms.sagemaker.names import Names

TENSORBOARD_FOLDER = "/opt/ml/output/tensorboard"
"""SageMaker's default. The entry point copies the event files here: the folder is a volume of its
own, which can lie neither on a file system nor in the folder of checkpoints."""


def results(job: Job, storage: StorageOutputs, *, called: Names) -> dict[str, Any]:
    """Return OutputDataConfig, and CheckpointConfig and TensorBoardOutputConfig where wanted.

    SageMaker puts everything in a folder of the job's name below the place that is named here.

    Args:
        called: The job's names.
    """
    place = f"s3://{storage.bucket_name}/{storage.key(job.spec.channels.log)}"
    found: dict[str, Any] = {
        "OutputDataConfig": {"S3OutputPath": place, "KmsKeyId": storage.encryption_key_arn}
    }
    if job.spec.data_source == "s3":
        found["CheckpointConfig"] = _checkpoints(f"{place}/{called.log}")
    elif job.spec.spot.enabled:
        # The log channel has the checkpoints, which outlive an interruption there. Spot capacity
        # goes with a place for them all the same, of which nothing is used; not the log folder's,
        # since FSx mirrors that, and SageMaker would copy it to each instance at every start.
        found["CheckpointConfig"] = _checkpoints(f"{place}/{called.job}/checkpoints")
    if job.spec.sagemaker.tensorboard:
        found["TensorBoardOutputConfig"] = {
            "S3OutputPath": place,
            "LocalPath": TENSORBOARD_FOLDER,
        }
    return found


def _checkpoints(uri: str) -> dict[str, Any]:
    return {"S3Uri": uri, "LocalPath": CHECKPOINT_FOLDER}
