"""The channels of a job: where its data is, and where it writes.

SageMaker shows a channel to the containers as /opt/ml/input/data/<name>.
"""

from __future__ import annotations

from typing import Any

from training.job import Job
from training.outputs import StorageOutputs
from training.platforms.sagemaker.file_system import file_system

TRAIN_FOLDER = "/opt/ml/input/data/train"
LOG_FOLDER = "/opt/ml/input/data/log"
CHECKPOINT_FOLDER = "/opt/ml/checkpoints"
"""SageMaker keeps a copy of it on S3 all the time, and brings it back when a job starts again:
https://docs.aws.amazon.com/sagemaker/latest/dg/model-checkpoints.html"""


def input_data_config(job: Job, storage: StorageOutputs, *, log: str) -> list[dict[str, Any]]:
    """Return InputDataConfig.

    A channel of S3 cannot be written to, so that there is no `log` with data source s3.

    Args:
        log: Name of this job's folder below `channels.log`.

    Raises:
        UsageError: There is no such file system.
    """
    paths, files = job.spec.channels, file_system(job, storage)
    if files is None:
        return [{"ChannelName": "train", "DataSource": {"S3DataSource": _on_s3(job, storage)}}]
    return [
        files.channel("train", files.path(paths.train), "ro"),
        files.channel("log", files.path(f"{paths.log}/{log}"), "rw"),
    ]


def input_mode(job: Job) -> str:
    """Return TrainingInputMode; channels of file systems must use File mode.

    https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html
    """
    return job.spec.sagemaker.input_mode if job.spec.data_source == "s3" else "File"


def log_folder(job: Job) -> str:
    """Return where the containers write logs and checkpoints."""
    return CHECKPOINT_FOLDER if job.spec.data_source == "s3" else LOG_FOLDER


def _on_s3(job: Job, storage: StorageOutputs) -> dict[str, Any]:
    return {
        "S3DataType": "S3Prefix",
        # The slash keeps out other folders whose names begin alike, and FastFile mode wants it.
        "S3Uri": f"s3://{storage.bucket_name}/{storage.key(job.spec.channels.train)}/",
        "S3DataDistributionType": job.spec.sagemaker.s3_distribution,
    }
