"""What a job spec can say about the platform `sagemaker` alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from training.spec_part import SpecPart


def _sagemaker_name(instance_type: str) -> str:
    return f"ml.{instance_type.removeprefix('ml.')}"


class SageMakerOptions(SpecPart):
    """Settings of the platform `sagemaker`."""

    distribution: Literal["mpi", "torchrun", "smddp"] | None = None
    """What starts and joins the processes; None takes the algorithm's default."""
    volume_gib: int = Field(default=100, ge=1, le=16384)
    """EBS storage of each instance, in GiB; left out for types that have local NVMe."""
    input_mode: Literal["File", "FastFile"] = "File"
    """Data source `s3`: copy all before the start, or stream while training reads."""
    s3_distribution: Literal["FullyReplicated", "ShardedByS3Key"] = "FullyReplicated"
    """Data source `s3`: all files for each instance, or a share of them."""
    keep_alive_s: int = Field(default=0, ge=0, le=3600)
    """Keep the instances for the next job (a warm pool), so many seconds; they are paid for."""
    encrypt_traffic: bool = False
    """Encrypt what instances send each other; slower."""
    network_isolation: bool = False
    """The container reaches no network but the other instances of the job."""
    training_plan_arn: str | None = Field(
        default=None,
        max_length=2048,
        pattern=r"^arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:[0-9]{12}:training-plan/[a-zA-Z0-9-]+$",
    )
    """Capacity that is reserved and paid for: a SageMaker training plan. Its instance type must be
    the job's."""
    health_checks: bool = False
    """Let SageMaker test the instances and the network between them before the job starts. AWS does
    not say for which types it does."""
    tensorboard: bool = True
    """Copy TensorBoard's event files to S3 while the job runs."""
    experiment: str | None = Field(default=None, pattern=r"^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,119}$")
    """A SageMaker experiment that the job belongs to."""
    preparation_instance_type: Annotated[str, AfterValidator(_sagemaker_name)] = Field(
        default="ml.m5.large", pattern=r"^(ml\.)?[a-z][a-z0-9-]*\.[a-z0-9]+$"
    )
    """What makes the log folder, where no file system is mounted on this machine."""
