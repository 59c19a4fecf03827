"""What this machine's record of jobs is for: a list without AWS, and where a name went."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from training.cli import Format, log, print_json, result
from training.columns import in_columns
from training.errors import UsageError
from training.jobs.everywhere import Found
from training.jobs.info import as_text
from training.jobs.record import ASK_AWS, REBUILD, Record, Recorded, RecordTrouble

_HEAD = ("NAME", "PLATFORM", "REGION", "ACCOUNT", "LAUNCHED", "LOG")


def show_recorded(limit: int, output_format: Format) -> None:
    """Print the jobs that were launched from this machine, newest first; AWS is not asked.

    Raises:
        UsageError: The record cannot be read: nobody knows whether it has jobs.
    """
    try:
        jobs = _read()[:limit]
    except RecordTrouble as trouble:
        raise UsageError(f"{trouble}. What AWS knows, with no record: {ASK_AWS}") from trouble
    if output_format is Format.JSON:
        print_json({"jobs": [asdict(each) for each in jobs]})
    elif jobs:
        rows = [_HEAD, *(_cells(each) for each in jobs)]
        for line in in_columns(rows):
            result.print(line)
    else:
        log.print(f"No job was launched from this machine. What AWS knows, writes down: {REBUILD}")


def record(found: Sequence[Found]) -> None:
    """Write down the jobs that AWS has told of, where the record lacks them.

    Raises:
        UsageError: The record cannot be written.
        AwsError: It does not say whose credentials these are.
    """
    from training.aws.client import new_session
    from training.aws.clients import Clients

    session = new_session()
    clients = Clients(session, None, read_timeout_s=20, attempts=3)
    account, region = clients.sts.identity().account, clients.region
    jobs = [
        Recorded(
            name=each.job.name,
            platform=each.platform,
            region=region,
            account=account,
            created=as_text(each.job.created) if each.job.created else None,
            log=each.job.log,
        )
        for each in found
    ]
    try:
        added = Record.of(os.environ).add_missing(jobs)
    except RecordTrouble as trouble:
        raise UsageError(f"nothing is written down: {trouble}") from trouble
    log.print(f"Written down: {added} more job(s).")


@contextmanager
def told_where(name: str, platform: str) -> Iterator[None]:
    """Add to an error about a job's name where that was launched from here, if it was elsewhere."""
    try:
        yield
    except UsageError as error:
        hint = _hint(name, platform)
        if hint is None:
            raise
        raise UsageError(f"{error}. {hint}") from error


def _hint(name: str, platform: str) -> str | None:
    try:
        launched = [each for each in _read() if each.name == name]
    except RecordTrouble as trouble:
        log.print(f"The record of jobs is left out: {trouble}")
        return None
    if not launched:
        return None
    places = "; ".join(each.place for each in launched)
    options = {f"--platform {each.platform}" for each in launched if each.platform != platform}
    variables = {f"AWS_REGION={each.region}" for each in launched if each.region}
    tried = " or ".join(sorted(options) or sorted(variables))
    return f"From this machine, {name} was launched on {places}" + (
        f": try {tried}, with that account's profile" if tried else ""
    )


def _read() -> list[Recorded]:
    """Return the jobs of the record, newest first; damaged lines are told.

    Raises:
        RecordTrouble: It cannot be read.
    """
    record_ = Record.of(os.environ)
    jobs, damaged = record_.read()
    if damaged:
        log.print(
            f"{record_.file}: {damaged} damaged line(s) left out. What AWS knows, writes down: "
            f"{REBUILD}"
        )
    return jobs


def _cells(job: Recorded) -> tuple[str, ...]:
    fields = (job.name, job.platform, job.region, job.account, job.created, job.log)
    return tuple("-" if each is None else each for each in fields)
