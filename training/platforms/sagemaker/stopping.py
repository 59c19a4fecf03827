"""When SageMaker stops a job, and what makes it start again."""

from __future__ import annotations

from typing import Any

from training.errors import UsageError
from training.job import JobSpec

DAY_S = 86_400

MAX_RUN_S = 28 * DAY_S
"""The largest MaxRuntimeInSeconds:
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StoppingCondition.html"""

MAX_WAIT_S = 2**31 - 1
"""The reference names no largest MaxWaitTimeInSeconds; its type is an integer of 32 bits."""


def stopping(spec: JobSpec) -> dict[str, Any]:
    """Return StoppingCondition, and EnableManagedSpotTraining and RetryStrategy where wanted.

    Raises:
        UsageError: A time is more than SageMaker grants, or they contradict each other.
    """
    condition = {"MaxRuntimeInSeconds": _max_run_s(spec)}
    if not spec.spot.enabled:
        if spec.spot.max_wait_s is not None:
            raise UsageError(
                f"spot.max_wait_s: {spec.spot.max_wait_s}: only a job on spot capacity waits; set "
                "spot.enabled to true, or leave it out"
            )
        return {"StoppingCondition": condition, **_retries(spec)}
    condition["MaxWaitTimeInSeconds"] = _max_wait_s(spec)
    return {
        "StoppingCondition": condition,
        "EnableManagedSpotTraining": True,
        **_retries(spec),
    }


def _max_run_s(spec: JobSpec) -> int:
    if spec.limits.max_run_s > MAX_RUN_S:
        raise UsageError(
            f"limits.max_run_s: {spec.limits.max_run_s}: SageMaker runs a job for at most "
            f"{MAX_RUN_S} seconds (28 days)"
        )
    return spec.limits.max_run_s


def _max_wait_s(spec: JobSpec) -> int:
    run = spec.limits.max_run_s
    if spec.spot.max_wait_s is None:
        return run + DAY_S
    if spec.spot.max_wait_s < run:
        raise UsageError(
            f"spot.max_wait_s: {spec.spot.max_wait_s}: it counts waiting and running together, so "
            f"it must be at least limits.max_run_s, {run}"
        )
    if spec.spot.max_wait_s > MAX_WAIT_S:
        raise UsageError(
            f"spot.max_wait_s: {spec.spot.max_wait_s}: SageMaker takes at most {MAX_WAIT_S}"
        )
    return spec.spot.max_wait_s


def _retries(spec: JobSpec) -> dict[str, Any]:
    """Return RetryStrategy: SageMaker tries again after an InternalServerError only."""
    return {"RetryStrategy": {"MaximumRetryAttempts": spec.retries}} if spec.retries else {}
