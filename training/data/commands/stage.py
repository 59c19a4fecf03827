"""`stage`: copy a set to where jobs read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.options import JobsOption, find_places
from training.data.commands.show import show_line
from training.data.folder import Folder
from training.data.places import Place, Places
from training.data.progress import format_bytes
from training.data.progress_display import show_progress
from training.errors import UsageError
from training.layout import TRAIN_PATH

if TYPE_CHECKING:
    from training.data.side import Side
    from training.data.stage import Staged


def stage(
    *,
    source: Annotated[
        str | None, typer.Argument(help="A folder or s3://bucket/prefix; or else give --from.")
    ] = None,
    to: Annotated[Place, typer.Option(help="Where to, of what StorageStack made.")],
    from_place: Annotated[
        Place | None, typer.Option("--from", help="Copy from there, of what StorageStack made.")
    ] = None,
    path: Annotated[str, typer.Option(help="Of the data set, in each such place.")] = TRAIN_PATH,
    outputs_file: Annotated[
        Path | None,
        typer.Option(help="What cdk deploy --outputs-file wrote; else CloudFormation is asked."),
    ] = None,
    jobs: JobsOption = 8,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Copy a data set to S3, EFS or FSx: verified, resumable, nothing deleted.

    Without a source, EFS and FSx are filled from S3.
    """
    from training.aws.errors import translated
    from training.data.stage import list_source
    from training.data.stage import stage as copy

    with translated():
        places = find_places(outputs_file, jobs)
        origin = _find_source(places, source, from_place, to, path)
        target = places.of_stack(to, path)
        _require_apart(origin, target)
        files = list_source(origin)
        total_bytes = sum(state.size for state in files.values())
        with show_progress(f"Staging to {to}", total_bytes, "bytes") as progress:
            staged = copy(origin, target, files, jobs=jobs, progress=progress)
    _show(origin, target, staged, output_format)


def _require_apart(origin: Side, target: Side) -> None:
    """Refuse to copy a folder into itself: the copy would be copied again, and again."""
    if not (isinstance(origin, Folder) and isinstance(target, Folder)):
        return
    source, into = origin.root.resolve(), target.root.resolve()
    if into.is_relative_to(source) or source.is_relative_to(into):
        raise UsageError(f"{origin.name}: cannot be copied to {target.name}: one is in the other")


def _find_source(
    places: Places, source: str | None, from_place: Place | None, to: Place, path: str
) -> Side:
    if source and from_place:
        raise UsageError(f"give a source ({source}) or --from {from_place}, not both")
    if source:
        return places.named(source)
    place = from_place or Place.S3
    if place is to:
        raise UsageError(f"--to {to}: name what to copy: a folder, s3://…, or --from another place")
    return places.of_stack(place, path)


def _show(origin: Side, target: Side, staged: Staged, output_format: Format) -> None:
    if output_format is Format.JSON:
        summary: dict[str, Any] = {
            "source": origin.name,
            "target": target.name,
            "files": staged.files,
            "bytes": staged.total_bytes,
            "copied_files": staged.copied_files,
            "copied_bytes": staged.copied_bytes,
            "extra_files": staged.extra_files,
        }
        print_json(summary)
        return
    show_line(
        f"{target.name}: {staged.files:,} files, {format_bytes(staged.total_bytes)}, verified; "
        f"{staged.copied_files:,} copied now, {staged.files - staged.copied_files:,} were there"
    )
    if staged.extra_files:
        show_line(f"{staged.extra_files:,} more files are there that the source lacks: left alone")
