"""`status`: how one job is doing."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.errors import AwsError, Interrupted, JobCheckpointed, JobFailed, UsageError
from training.jobs.control import (
    JobControl,
    JobNameArgument,
    OutputsFileOption,
    PlatformOption,
    load,
)
from training.jobs.info import JobInfo, as_text
from training.jobs.recorded import told_where
from training.prices.cache import price_cache
from training.prices.spent import Spent, spent

WATCH_S = 10.0
"""Between two looks."""

GIVE_UP_S = 3600.0
"""Without an answer."""


def status(
    name: JobNameArgument,
    platform: PlatformOption = "sagemaker",
    outputs_file: OutputsFileOption = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on until it has ended: a line for each change.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show how a job is doing, and why it failed if it did.

    With --watch it ends with the job's exit code: 0 completed, 1 failed, 75 with a checkpoint, 130
    stopped. Ctrl-C ends the watching, not the job.
    """
    if watch and output_format is Format.JSON:
        raise UsageError("--watch: shows lines for people; without it, --format json prints once")
    control = load(platform, outputs_file)
    with told_where(name, platform):
        job = control.status(name)
    if watch:
        job = _watched(control, job)
    show_job(job, output_format)
    if watch:
        _end_as(job)


def _watched(control: JobControl, job: JobInfo) -> JobInfo:
    """Show each change of a job until it has ended, and return how it ended."""
    shown, answered_s = "", time.monotonic()
    try:
        while not job.has_ended:
            line = f"{job.status} ({job.detail})" + (f": {job.message}" if job.message else "")
            if line != shown:
                result.print(f"{datetime.now(UTC):%H:%M:%S} {line}")
                shown = line
            time.sleep(WATCH_S)
            try:
                job = control.status(job.name)
                answered_s = time.monotonic()
            except AwsError as error:
                if time.monotonic() - answered_s > GIVE_UP_S:
                    raise
                log.print(f"{error}; asks again")
    except KeyboardInterrupt:
        raise Interrupted(f"the watching alone; {job.name} goes on") from None
    return job


def _end_as(job: JobInfo) -> None:
    """End with the exit code of the job, as `logs -f` does."""
    if job.status == "failed":
        raise JobFailed(f"{job.name} failed")
    if job.status == "checkpointed":
        raise JobCheckpointed(f"{job.name} has a checkpoint: launch --resume goes on from it")
    if job.status == "stopped":
        raise Interrupted(f"{job.name} was stopped")


def show_job(job: JobInfo, output_format: Format) -> None:
    """Print a job to stdout."""
    money = spent(job.usage, cache=price_cache(os.environ))
    if output_format is Format.JSON:
        print_json({**job.to_json(), "cost": money.to_json()})
        return
    result.print(f"{job.name}: {job.status} ({job.detail})")
    facts = {
        "says": job.message,
        "machines": job.machines,
        "created": job.created and as_text(job.created),
        "ended": job.ended and as_text(job.ended),
        "time": job.billing,
        "cost": _in_words(money),
        "model": job.model,
        "log": job.log,
    }
    for what, fact in facts.items():
        if fact is not None:
            result.print(f"  {what}: {fact}")


def _in_words(money: Spent) -> str | None:
    if money.usd is None:
        return f"not known: {'; '.join(money.assumptions)}"
    if not money.hours:
        return None
    return f"about {money.usd:,.2f} USD so far, on demand; `cost` says of what"
