"""The request of a small job, as the platform plans it."""

from __future__ import annotations

from typing import Any


def request_body(**changes: Any) -> dict[str, Any]:
    """Return the request of a job on two hosts whose data and logs are on EFS."""
    body = {
        "TrainingJobName": "mask-rcnn-efs-one",
        "AlgorithmSpecification": {
            "TrainingImage": "registry/image:1",
            "TrainingInputMode": "File",
        },
        "HyperParameters": {"batch_norm": "FreezeBN"},
        "Environment": {"MASK_RCNN_ALGORITHM": "horovod"},
        "InputDataConfig": [channel("train", "ro", "/in"), channel("log", "rw", "/out/log-one")],
        "OutputDataConfig": {"S3OutputPath": "s3://results/out"},
        "ResourceConfig": {"InstanceType": "local", "InstanceCount": 2},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }
    return body | changes


def channel(name: str, mode: str, path: str, kind: str = "EFS") -> dict[str, Any]:
    source = {
        "FileSystemId": "fs-0ef50ef5",
        "FileSystemAccessMode": mode,
        "FileSystemType": kind,
        "DirectoryPath": path,
    }
    return {"ChannelName": name, "DataSource": {"FileSystemDataSource": source}}
