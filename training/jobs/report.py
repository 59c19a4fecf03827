"""`report`: write a job's report again, for example with pictures from another folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.errors import UsageError
from training.layout import LogChannel, TrainChannel


def report(
    log_dir: Annotated[
        Path, typer.Argument(metavar="LOG_DIR", help="A job's log channel, as a folder.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="The data set, for pictures; by default the one of the job, if it is here.",
        ),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Write LOG_DIR/report.html and print its path."""
    from training.report import write_report

    log = LogChannel(log_dir)
    _check_log(log)
    path = write_report(log, _train_channel(log, data))
    if output_format is Format.JSON:
        print_json({"report": str(path), "bytes": path.stat().st_size})
    else:
        typer.echo(path)


def _check_log(log: LogChannel) -> None:
    if not log.root.is_dir():
        raise UsageError(f"{log.root}: no such folder; name a job's log channel")
    files = (log.job, log.hyperparameters, log.metrics, log.outcome, log.predictions)
    if not any(file.exists() for file in files) and not any(log.root.glob("rank-*.log")):
        names = ", ".join(file.name for file in files)
        raise UsageError(
            f"{log.root}: not a job's log channel, for it has none of {names} and rank-N.log"
        )


def _train_channel(log: LogChannel, data: Path | None) -> TrainChannel | None:
    from training.report.record import read_job

    if data is not None:
        if not data.is_dir():
            raise UsageError(f"--data {data}: no such folder; name a data set in COCO's layout")
        return TrainChannel(data)
    request = read_job(log).get("request")
    named = request.get("data") if isinstance(request, dict) else None
    if isinstance(named, str) and Path(named).is_dir():
        return TrainChannel(Path(named))
    return None
