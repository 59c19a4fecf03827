"""`logs`: the lines of all hosts of a job, in the order of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from training.cli import Format, FormatOption, print_json, result
from training.jobs.control import JobNameArgument, OutputsFileOption, PlatformOption, load
from training.jobs.recorded import told_where


def logs(
    name: JobNameArgument,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the job has ended.")
    ] = False,
    platform: PlatformOption = "sagemaker",
    outputs_file: OutputsFileOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Show the lines that a job has written.

    With -f until it ends, and then how it ended.

    With --format json each line is one JSON string. Exit codes with -f: 0 the job completed, 1 it
    failed, 4 AWS had no machines or cannot be asked, 75 stopped, and may go on, 130 interrupted:
    the job itself goes on.
    """
    control = load(platform, outputs_file)
    show: Callable[[str], None] = print_json if output_format is Format.JSON else result.out
    with told_where(name, platform):
        if follow:
            control.follow(name, show)
        else:
            control.show(name, show)
