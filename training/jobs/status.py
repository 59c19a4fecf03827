"""`status`: how one job is doing."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from training.aws.errors import AwsRefused
from training.cli import Format, FormatOption, log, print_json, result
from training.errors import AwsError, UsageError
from training.jobs.control import (
    JobControl,
    JobNameArgument,
    OutputsFileOption,
    PlatformOption,
    load,
)
from training.jobs.info import JobInfo, as_text
from training.jobs.recorded import told_where
from training.platforms.watching import watching
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

    With --watch it ends as `logs -f` does: 0 completed, 1 failed, 4 AWS had no machines, 75 with a
    checkpoint, 130 stopped before there was one. Ctrl-C ends the watching, not the job.
    """
    if watch and output_format is Format.JSON:
        raise UsageError("--watch: shows lines for people; without it, --format json prints once")
    control = load(platform, outputs_file)
    with told_where(name, platform):
        job = control.status(name)
    if watch:
        command, where = "python -m training.jobs", f"{name} --platform {platform}"
        with watching(
            name, follow=f"{command} status --watch {where}", stop=f"{command} stop {where}"
        ):
            job = _watched(control, job)
    show_job(job, output_format)
    # What has completed needs no further answer.
    if watch and job.status != "completed":
        control.conclude(name)


def _watched(control: JobControl, job: JobInfo) -> JobInfo:
    """Show each change of a job until it has ended, and return how it ended."""
    shown, answered_s, is_silent = "", time.monotonic(), False
    while not job.has_ended:
        line = f"{job.status} ({job.detail})" + (f": {job.message}" if job.message else "")
        if line != shown:
            result.print(f"{datetime.now(UTC):%H:%M:%S} {line}")
            shown = line
        time.sleep(WATCH_S)
        try:
            job = control.status(job.name)
        except AwsError as error:
            if _is_denial(error) or time.monotonic() - answered_s > GIVE_UP_S:
                raise
            if not is_silent:
                log.print(f"{error}; asks again")
            is_silent = True
            continue
        if is_silent:
            log.print("there is an answer again")
        answered_s, is_silent = time.monotonic(), False
    return job


def _is_denial(error: AwsError) -> bool:
    return isinstance(error, AwsRefused) and error.is_denial


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
