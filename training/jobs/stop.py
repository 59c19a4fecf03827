"""`stop`: ask a job to end."""

from __future__ import annotations

from training.cli import Format, FormatOption
from training.jobs.control import JobNameArgument, PlatformOption, load
from training.jobs.status import show_job


def stop(
    name: JobNameArgument,
    platform: PlatformOption = "sagemaker",
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Ask a job to end: its processes get time for a checkpoint (SageMaker: 120 s).

    A job that has ended already stays as it is. The checkpoint is what launch --resume goes on
    from.
    """
    show_job(load(platform).stop(name), output_format)
