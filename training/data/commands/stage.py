"""`stage`: copy a set to where jobs read it."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.elsewhere import (
    ImageOption,
    InstanceTypeOption,
    MaxRunOption,
    NameOption,
    OnOption,
    refuse_here,
    show_plan,
)
from training.data.commands.options import JobsOption, OutputsFileOption, find_places
from training.data.commands.show import log_line, show_line
from training.data.on.elsewhere import Elsewhere, On, With
from training.data.on.errand import MAX_RUN_S, of_stage
from training.data.places import Place
from training.data.progress import format_bytes
from training.data.progress_display import show_progress
from training.data.request import StageRequest
from training.layout import TRAIN_PATH

if TYPE_CHECKING:
    from training.data.here import Outcome


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
    outputs_file: OutputsFileOption = None,
    jobs: JobsOption = 8,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete at the target what the source lacks.")
    ] = False,
    preload: Annotated[
        bool, typer.Option("--preload", help="FSx fetches the contents too, not the names alone.")
    ] = False,
    release: Annotated[
        bool,
        typer.Option("--release", help="FSx keeps only the names of what it has exported."),
    ] = False,
    with_service: Annotated[
        With | None,
        typer.Option("--with", help="AWS DataSync makes the big copy; then it is compared."),
    ] = None,
    on: OnOption = On.HERE,
    name: NameOption = None,
    image: ImageOption = None,
    instance_type: InstanceTypeOption = None,
    max_run_s: MaxRunOption = MAX_RUN_S,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="--on, --with: print what would be sent, and its cost."),
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Copy a data set to S3, EFS or FSx.

    Verified, resumable, and nothing is deleted unless asked. Without a source, EFS and FSx are
    filled from S3. Where FSx is linked to that place in S3, it imports and exports by itself.
    """
    request = StageRequest(
        source=source,
        from_place=from_place,
        to=to,
        path=path,
        jobs=jobs,
        delete=delete,
        preload=preload,
        release=release,
    )
    elsewhere = Elsewhere(
        on=on,
        name=name,
        image=image,
        instance_type=instance_type,
        max_run_s=max_run_s,
        outputs_file=outputs_file,
    )
    outcome = _run(request, elsewhere, with_service, dry_run=dry_run, output_format=output_format)
    if outcome is None:
        return
    if output_format is Format.JSON:
        print_json(asdict(outcome))
    else:
        _show(outcome)


def _run(
    request: StageRequest,
    elsewhere: Elsewhere,
    with_service: With | None,
    *,
    dry_run: bool,
    output_format: Format,
) -> Outcome | None:
    """Copy, and return what was done; None where there is nothing to tell any more.

    All is planned, and checked, before anything costs.
    """
    # By name: the launcher's part is not in the image, where this command runs too.
    by_datasync = with_service and import_module("training.data.datasync.run").plan(
        request, elsewhere.outputs_file, on=elsewhere.on
    )
    if elsewhere.on is On.HERE:
        refuse_here(elsewhere, dry_run=dry_run and not by_datasync)
        there = None
    else:
        on = import_module("training.data.on.run")
        there = on.plan(elsewhere, of_stage(request))
    if dry_run:
        parts = {"datasync": by_datasync, str(elsewhere.on): there and there.trip}
        show_plan({key: part.to_json() for key, part in parts.items() if part}, output_format)
        return None
    if there:
        on.check(there, tell=log_line)
    if by_datasync:
        by_datasync.run(log_line)
    if there:
        answer = on.run(there, show=log_line, tell=log_line)
        if answer.error is not None:
            raise answer.error
        outcome: Outcome | None = answer.outcome
        return outcome
    return _here(request, elsewhere.outputs_file)


def _here(request: StageRequest, outputs_file: Path | None) -> Outcome:
    from training.aws.errors import translated
    from training.data.aws import make_bulk, make_tasks
    from training.data.here import Here

    here = Here(
        places=find_places(outputs_file, request.jobs),
        make_bulk=make_bulk,
        make_tasks=lambda file_system_id: make_tasks(file_system_id, log_line),
        show_progress=show_progress,
        tell=log_line,
    )
    with translated():
        return here.run(request)


def _show(outcome: Outcome) -> None:
    what = f"{outcome.target}: {outcome.files:,} files, {format_bytes(outcome.bytes)}"
    if outcome.how == "copied":
        there = outcome.files - outcome.copied_files
        show_line(f"{what}, verified; {outcome.copied_files:,} copied now, {there:,} were there")
    else:
        show_line(f"{what}, {outcome.how} by FSx" + _looked_at(outcome))
    if outcome.deleted_files:
        show_line(f"{outcome.deleted_files:,} files that the source lacks were deleted there")
    if outcome.extra_files:
        show_line(f"{outcome.extra_files:,} more files are there that the source lacks: left alone")


def _looked_at(outcome: Outcome) -> str:
    if outcome.how == "exported":
        return ", and compared"
    return "" if outcome.extra_files is None else "; all names and sizes are there"
