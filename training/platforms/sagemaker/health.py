"""SageMaker's own test of the instances before a job starts."""

from __future__ import annotations

from typing import Any

from training.job import Job


def health_checks(job: Job) -> dict[str, Any]:
    """Return InfraCheckConfig where it is wanted.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InfraCheckConfig.html
    """
    wanted = job.spec.sagemaker.health_checks
    return {"InfraCheckConfig": {"EnableInfraCheck": True}} if wanted else {}
