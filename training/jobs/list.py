"""`list`: the jobs that were launched with this program, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.columns import in_columns
from training.jobs.control import OutputsFileOption
from training.jobs.everywhere import ALL, EveryPlatformOption, Everywhere, Found
from training.jobs.info import as_text

_HEAD = ("NAME", "STATUS", "STAGE", "CREATED", "MACHINES")
_PLATFORM = "PLATFORM"


def list_jobs(
    platform: EveryPlatformOption = "sagemaker",
    outputs_file: OutputsFileOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many jobs at most.")] = 20,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """List the jobs of this program, newest first.

    Of those, the ones that your identity may see.
    """
    everywhere = Everywhere.of(platform, outputs_file)
    jobs = everywhere.newest(limit)
    if output_format is Format.JSON:
        print_json({"jobs": [{"platform": e.platform, **e.job.to_json()} for e in jobs]})
    elif jobs:
        _show(jobs, with_platform=platform == ALL)
    elif not everywhere.failed:
        log.print("No jobs of this program.")
    everywhere.conclude()


def _show(jobs: list[Found], *, with_platform: bool) -> None:
    rows = [_HEAD, *map(_cells, jobs)]
    if with_platform:
        names = (_PLATFORM, *(each.platform for each in jobs))
        rows = [(*row, name) for row, name in zip(rows, names, strict=True)]
    for line in in_columns(rows):
        result.print(line)


def _cells(found: Found) -> tuple[str, ...]:
    job = found.job
    created = as_text(job.created) if job.created is not None else "-"
    return job.name, job.status, job.detail, created, job.machines
