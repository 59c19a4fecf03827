"""`status`: how one job is doing."""

from __future__ import annotations

from training.cli import Format, FormatOption, print_json, result
from training.jobs.control import JobNameArgument, PlatformOption, load
from training.jobs.info import JobInfo, as_text


def status(
    name: JobNameArgument,
    platform: PlatformOption = "sagemaker",
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show how a job is doing, and why it failed if it did."""
    show_job(load(platform).status(name), output_format)


def show_job(job: JobInfo, output_format: Format) -> None:
    """Print a job to stdout."""
    if output_format is Format.JSON:
        print_json(job.to_json())
        return
    result.print(f"{job.name}: {job.status} ({job.detail})")
    facts = {
        "says": job.message,
        "machines": job.machines,
        "created": job.created and as_text(job.created),
        "ended": job.ended and as_text(job.ended),
        "time": job.billing,
        "model": job.model,
        "log": job.log,
    }
    for what, fact in facts.items():
        if fact is not None:
            result.print(f"  {what}: {fact}")
