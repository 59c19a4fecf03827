"""Runs a training job in containers on this machine: `--instance-type local`.

The containers get what SageMaker would give them (files below /opt/ml, variables, a network with
the names of the hosts), so that the image, its entry point and the job are tried as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def run(body: Mapping[str, Any]) -> None:
    """Run the body of a CreateTrainingJob request to its end.

    Raises:
        PreflightError: No engine, no image, or no data; nothing was started.
        JobFailed: A container failed; the message has its reason and its last lines.
        JobCheckpointed: It was stopped and can go on.
        Interrupted: It was stopped before there was anything to go on from.
        AwsError: S3 refused.
    """
    from training.platforms.sagemaker.containers.job_run import run_job

    run_job(body)
