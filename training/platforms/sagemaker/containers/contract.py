"""What SageMaker tells a container: three files, and variables.

https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NETWORK_INTERFACE = "eth0"
"""Of podman's and docker's networks, as in SageMaker's jobs."""

_GROUP = "homogeneousCluster"
"""The one group of a job whose instances are all of one type."""


def host_names(count: int) -> tuple[str, ...]:
    """Return algo-1 … algo-N, in the order of their numbers."""
    return tuple(f"algo-{number}" for number in range(1, count + 1))


def config_files(
    body: Mapping[str, Any], hosts: tuple[str, ...], current: str
) -> dict[str, dict[str, Any]]:
    """Return name -> content of the files in /opt/ml/input/config of one host."""
    kind = body["ResourceConfig"]["InstanceType"]
    by_text = sorted(hosts)  # algo-1, algo-10, algo-2: so SageMaker lists them
    return {
        "hyperparameters.json": dict(body.get("HyperParameters", {})),
        "inputdataconfig.json": {
            channel["ChannelName"]: _channel(channel, body)
            for channel in body.get("InputDataConfig", ())
        },
        "resourceconfig.json": {
            "current_host": current,
            "current_instance_type": kind,
            "current_group_name": _GROUP,
            "hosts": by_text,
            "instance_groups": [
                {"instance_group_name": _GROUP, "instance_type": kind, "hosts": by_text}
            ],
            "network_interface_name": NETWORK_INTERFACE,
            "topology": None,
        },
    }


def _channel(channel: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, str]:
    """Return a channel's entry: file systems have it too, as if they were replicated."""
    source = channel["DataSource"].get("S3DataSource", {})
    mode = channel.get("InputMode") or body["AlgorithmSpecification"]["TrainingInputMode"]
    return {
        "TrainingInputMode": mode,
        "S3DistributionType": source.get("S3DataDistributionType", "FullyReplicated"),
        "RecordWrapperType": channel.get("RecordWrapperType", "None"),
    }


def variables(body: Mapping[str, Any], current: str) -> dict[str, str]:
    """Return the variables of one container: the job's own, and SageMaker's."""
    name = body["TrainingJobName"]
    return {
        **body.get("Environment", {}),
        "TRAINING_JOB_NAME": name,
        "TRAINING_JOB_ARN": f"arn:aws:sagemaker:local:000000000000:training-job/{name}",
        "CURRENT_HOST": current,
    }
