"""`list`: the jobs that were launched with this program, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.columns import in_columns
from training.errors import UsageError
from training.jobs.control import OutputsFileOption
from training.jobs.everywhere import ALL, EveryPlatformOption, Everywhere, Found
from training.jobs.info import as_text
from training.jobs.recorded import record, show_recorded

_HEAD = ("NAME", "STATUS", "STAGE", "CREATED", "MACHINES")
_PLATFORM = "PLATFORM"


def list_jobs(
    platform: EveryPlatformOption = "sagemaker",
    outputs_file: OutputsFileOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many jobs at most.")] = 20,
    *,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Those launched from this machine, on all platforms, by its own record; asks "
            "nobody.",
        ),
    ] = False,
    record_them: Annotated[
        bool,
        typer.Option("--record", help="Write what AWS tells into that record, where it lacks it."),
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """List the jobs of this program, newest first.

    Of those, the ones that your identity may see.
    """
    if recorded and record_them:
        raise UsageError("--recorded, --record: one reads the record and one fills it; give one")
    if recorded:
        show_recorded(limit, output_format)
        return
    everywhere = Everywhere.of(platform, outputs_file)
    jobs = everywhere.newest(limit)
    if output_format is Format.JSON:
        print_json({"jobs": [{"platform": e.platform, **e.job.to_json()} for e in jobs]})
    elif jobs:
        _show(jobs, with_platform=platform == ALL)
    elif not everywhere.failed:
        log.print("No jobs of this program.")
    if record_them and jobs:
        record(jobs)
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
