"""`fetch`: copy a set from S3 to a folder of this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.options import JobsOption, find_places
from training.data.commands.show import log_line, show_line
from training.data.progress import format_bytes
from training.data.progress_display import show_progress
from training.errors import UsageError


def fetch(
    *,
    source: Annotated[str, typer.Argument(metavar="S3", help="s3://bucket/prefix.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Made where it is missing.")],
    jobs: JobsOption = 8,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Copy a set from S3 to a folder, verified.

    A copy that was stopped goes on where it was.
    """
    if not source.startswith("s3://"):
        raise UsageError(f"{source}: expected s3://bucket/prefix")
    from training.aws.errors import translated
    from training.data.aws import make_bulk
    from training.data.folder import Folder
    from training.data.here import Outcome
    from training.data.stage import Manner, list_source, stage

    places = find_places(None, jobs)
    with translated():
        origin, target = places.named(source), Folder(folder)
        files = list_source(origin)
        total = sum(state.size for state in files.values())
        with show_progress("Fetching", total, "bytes") as progress:
            manner = Manner(
                jobs=jobs, bulk=make_bulk(places.client), progress=progress, tell=log_line
            )
            staged = stage(origin, target, files, manner)
    outcome = Outcome.of_copy(origin.name, target.name, staged)
    if output_format is Format.JSON:
        print_json(asdict(outcome))
        return
    there = outcome.files - outcome.copied_files
    show_line(
        f"{outcome.target}: {outcome.files:,} files, {format_bytes(outcome.bytes)}, verified; "
        f"{outcome.copied_files:,} copied now, {there:,} were there"
    )
