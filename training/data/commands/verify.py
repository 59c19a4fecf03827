"""`verify`: compare two copies."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.elsewhere import (
    ImageOption,
    InstanceTypeOption,
    MaxRunOption,
    NameOption,
    OnOption,
    refuse_here,
)
from training.data.commands.options import JobsOption, OutputsFileOption, find_places
from training.data.commands.show import log_line, show_line
from training.data.on.elsewhere import Elsewhere, On
from training.data.on.errand import MAX_RUN_S, of_verify
from training.data.progress_display import show_progress
from training.errors import PreflightError


def verify(
    *,
    left: Annotated[
        str,
        typer.Argument(metavar="A", help="A folder, s3://bucket/prefix, or efs:, fsx:, s3:[PATH]."),
    ],
    right: Annotated[str, typer.Argument(metavar="B", help="The other copy.")],
    outputs_file: OutputsFileOption = None,
    jobs: JobsOption = 8,
    on: OnOption = On.HERE,
    name: NameOption = None,
    image: ImageOption = None,
    instance_type: InstanceTypeOption = None,
    max_run_s: MaxRunOption = MAX_RUN_S,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Compare two copies and name each difference.

    Exit code 3 where there is one. efs:, fsx: and s3: are the places of StorageStack.
    """
    elsewhere = Elsewhere(
        on=on,
        name=name,
        image=image,
        instance_type=instance_type,
        max_run_s=max_run_s,
        outputs_file=outputs_file,
    )
    if on is On.HERE:
        refuse_here(elsewhere, dry_run=False)
        differences, looked_at = _here(left, right, outputs_file, jobs)
    else:
        differences, looked_at = _elsewhere(elsewhere, left, right, jobs), ""
    if output_format is Format.JSON:
        print_json(differences)
    else:
        for found in differences:
            show_line("{kind}: {path!r} in {side}: {detail}".format_map(found))
        if not differences:
            show_line(f"no difference{looked_at}")
    if differences:
        raise PreflightError(f"{len(differences):,} difference(s) between {left} and {right}")


def _here(
    left: str, right: str, outputs_file: Path | None, jobs: int
) -> tuple[list[dict[str, Any]], str]:
    """Return the differences, and in words how much was compared."""
    from training.aws.errors import translated
    from training.data.verify import bytes_to_compare
    from training.data.verify import verify as compare

    with translated():
        places = find_places(outputs_file, jobs)
        sides = places.named(left), places.named(right)
        listings = sides[0].files(), sides[1].files()
        with show_progress("Comparing", bytes_to_compare(*listings), "bytes") as progress:
            differences = compare(*sides, *listings, jobs=jobs, progress=progress)
    found: list[dict[str, Any]] = [difference.to_json() for difference in differences]
    return found, f" in {len(listings[0]):,} files"


def _elsewhere(elsewhere: Elsewhere, left: str, right: str, jobs: int) -> list[dict[str, Any]]:
    # By name: the launcher's part is not in the image, where this command runs too.
    run = import_module("training.data.on.run")
    there = run.plan(elsewhere, of_verify(left, right, jobs=jobs))
    run.check(there, tell=log_line)
    answer = run.run(there, show=log_line, tell=log_line)
    found: list[dict[str, Any]] = answer.result or []
    if answer.error is not None and not found:
        raise answer.error
    return found
