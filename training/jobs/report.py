"""`report`: write a job's report again, for example with pictures from another folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.data.mounts import find_folder
from training.errors import UsageError
from training.jobs.control import NAMES, OutputsFileOption, load
from training.layout import LogChannel, TrainChannel
from training.report.tensorpack import find_attempts


def report(
    job: Annotated[
        str,
        typer.Argument(
            metavar="LOG_DIR", help="A job's log channel, as a folder; with --platform, its name."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="The data set, for pictures; by default the one of the job, if it is here.",
        ),
    ] = None,
    platform: Annotated[
        str | None, typer.Option("--platform", help=f"Where the job ran: {', '.join(NAMES)}.")
    ] = None,
    outputs_file: OutputsFileOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Write LOG_DIR/report.html and print its path.

    With --platform the job is named: where its log folder is on a file system that this machine
    mounts, the report is written there; elsewhere the command prints where it lies.
    """
    log_dir = Path(job)
    if platform is not None:
        place = load(platform, outputs_file).status(job).log
        here = find_folder(place or "", environ=os.environ)
        if here is None:
            _tell_place(job, place, output_format)
            return
        log_dir = here
    _write(LogChannel(log_dir), data, output_format)


def _write(channel: LogChannel, data: Path | None, output_format: Format) -> None:
    from training.report import write_report

    check_log(channel)
    path = write_report(channel, _train_channel(channel, data))
    if output_format is Format.JSON:
        print_json({"report": str(path), "bytes": path.stat().st_size})
    else:
        typer.echo(path)


def _tell_place(job: str, place: str | None, output_format: Format) -> None:
    """Print where the report is, as far as anybody here can know."""
    if place is None:
        raise UsageError(f"{job}: it has no log folder, and so no report")
    log.print("Its log folder is not on this machine; the report is there once the job has ended:")
    report_place = f"{place}/report.html"
    if output_format is Format.JSON:
        print_json({"report": report_place, "bytes": None})
    else:
        result.print(report_place)


def check_log(channel: LogChannel) -> None:
    """Raise UsageError where a folder is no job's log channel."""
    if not channel.root.is_dir():
        raise UsageError(f"{channel.root}: no such folder; name a job's log channel")
    files = (
        channel.job,
        channel.hyperparameters,
        channel.metrics,
        channel.outcome,
        channel.predictions,
    )
    others = any(channel.root.glob("rank-*.log")) or bool(find_attempts(channel.root))
    if not others and not any(file.exists() for file in files):
        names = ", ".join(file.name for file in files)
        raise UsageError(
            f"{channel.root}: not a job's log channel, for it has none of {names} and rank-N.log"
        )


def _train_channel(channel: LogChannel, data: Path | None) -> TrainChannel | None:
    from training.report.record import read_job

    if data is not None:
        if not data.is_dir():
            raise UsageError(f"--data {data}: no such folder; name a data set in COCO's layout")
        return TrainChannel(data)
    request = read_job(channel).get("request")
    named = request.get("data") if isinstance(request, dict) else None
    if isinstance(named, str) and Path(named).is_dir():
        return TrainChannel(Path(named))
    return None
