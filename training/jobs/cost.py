"""`cost`: what jobs have cost so far."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.columns import in_columns
from training.errors import UsageError
from training.jobs.control import OutputsFileOption
from training.jobs.everywhere import ALL, EveryPlatformOption, Everywhere, Found
from training.jobs.info import JobInfo, as_text
from training.prices.cache import price_cache
from training.prices.spent import LEFT_OUT, Spent, spent
from training.prices.usage import NotKnown

_HEAD = ("NAME", "STATUS", "MACHINES", "HOURS", "USD")
_UNKNOWN = "unknown"


def cost(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME...]", help="Jobs, as `list` has them; none: the newest."),
    ] = None,
    platform: EveryPlatformOption = "sagemaker",
    outputs_file: OutputsFileOption = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="Without a NAME: how many jobs at most.")
    ] = 20,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Add up what jobs have cost so far.

    The machines that train, at AWS's list prices on demand. HOURS are those of all machines of a
    job together. A price that is not known is never counted as 0: the sum then says so.
    """
    if names and platform == ALL:
        raise UsageError(f"--platform {ALL}: adds up the newest jobs; with NAME, name its platform")
    everywhere = Everywhere.of(platform, outputs_file)
    jobs = _jobs(everywhere, platform, names or [], limit)
    cache = price_cache(os.environ)
    rows = [(each, spent(each.job.usage, cache=cache)) for each in jobs]
    if output_format is Format.JSON:
        print_json(_to_json(rows))
    elif rows:
        _show(rows)
    elif not everywhere.failed:
        log.print("No jobs of this program.")
    everywhere.conclude()


def _jobs(
    everywhere: Everywhere, platform: str, names: Sequence[str], limit: int
) -> Sequence[Found]:
    if names:
        control = everywhere.controls[platform]
        return [Found(platform, control.status(name)) for name in dict.fromkeys(names)]
    # A list may tell less of a job than the job's own status.
    return [
        everywhere.status(each) if isinstance(each.job.usage, NotKnown) else each
        for each in everywhere.newest(limit)
    ]


def _total(rows: Sequence[tuple[Found, Spent]]) -> tuple[float, int]:
    """Return what the known ones add up to, and how many are not known."""
    known = [money.usd for _, money in rows if money.usd is not None]
    return sum(known), len(rows) - len(known)


def _to_json(rows: Sequence[tuple[Found, Spent]]) -> dict[str, Any]:
    total, unknown = _total(rows)
    return {
        "currency": "USD",
        "jobs": [
            {
                "name": found.job.name,
                "platform": found.platform,
                "status": found.job.status,
                "machines": found.job.machines,
                "created": found.job.created and as_text(found.job.created),
                **money.to_json(),
            }
            for found, money in rows
        ],
        # What leaves something out is no total.
        "total": None if unknown else round(total, 2),
        "of_known": round(total, 2),
        "unknown": unknown,
        "left_out": LEFT_OUT,
    }


def _show(rows: Sequence[tuple[Found, Spent]]) -> None:
    lines = [_HEAD, *(_cells(found.job, money) for found, money in rows)]
    total, unknown = _total(rows)
    hours = [money.hours for _, money in rows if money.hours is not None]
    lines.append((f"sum of {len(rows) - unknown}", "", "", f"{sum(hours):,.2f}", f"{total:,.2f}"))
    for line in in_columns(lines, figures=2):
        result.print(line)
    for found, money in rows:
        for said in money.assumptions:
            log.print(f"{found.job.name}: {said}")
    if unknown:
        log.print(f"{unknown} of {len(rows)} jobs are not in the sum: what they cost is not known.")
    log.print(LEFT_OUT)


def _cells(job: JobInfo, money: Spent) -> tuple[str, ...]:
    hours = _UNKNOWN if money.hours is None else f"{money.hours:,.2f}"
    usd = _UNKNOWN if money.usd is None else f"{money.usd:,.2f}"
    return job.name, job.status, job.machines, hours, usd
