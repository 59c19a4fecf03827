"""`list`: the jobs that were launched with this program, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.jobs.control import PlatformOption, load
from training.jobs.info import JobInfo, as_text

_HEAD = ("NAME", "STATUS", "STAGE", "CREATED", "MACHINES")


def list_jobs(
    platform: PlatformOption = "sagemaker",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many jobs at most.")] = 20,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """List the jobs of this program, newest first.

    Of those, the ones that your identity may see.
    """
    jobs = load(platform).jobs(limit=limit)
    if output_format is Format.JSON:
        print_json({"jobs": [job.to_json() for job in jobs]})
        return
    if not jobs:
        log.print("No jobs of this program.")
        return
    rows = [_HEAD, *map(_cells, jobs)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        result.print("  ".join(cells).rstrip())


def _cells(job: JobInfo) -> tuple[str, ...]:
    created = as_text(job.created) if job.created is not None else "-"
    return job.name, job.status, job.detail, created, job.machines
