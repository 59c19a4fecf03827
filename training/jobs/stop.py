"""`stop`: ask a job to end."""

from __future__ import annotations

from training.cli import Format, FormatOption
from training.jobs.control import JobNameArgument, OutputsFileOption, PlatformOption, load
from training.jobs.recorded import told_where
from training.jobs.status import show_job


def stop(
    name: JobNameArgument,
    platform: PlatformOption = "sagemaker",
    outputs_file: OutputsFileOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Ask a job to end.

    Its processes get time for a checkpoint (SageMaker: 120 s), which is what launch --resume goes
    on from. A job that has ended already stays as it is.
    """
    control = load(platform, outputs_file)
    with told_where(name, platform):
        job = control.stop(name)
    show_job(job, output_format)
