"""`check`: look for faults in one set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.show import show_line
from training.errors import PreflightError
from training.layout import TrainChannel


def check(
    *,
    folder: Annotated[Path, typer.Argument(help="A set: annotations/ and a folder a split.")],
    split: Annotated[
        list[str] | None, typer.Option(help="For example train2017; all that are there if absent.")
    ] = None,
    bad_annotations: Annotated[
        Literal["stop", "skip"],
        typer.Option(help="What training will do with an annotation that it cannot use."),
    ] = "stop",
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Check the annotations and pictures of one set; exit code 3 where there is an error."""
    from training.preflight.data import find

    channel = TrainChannel(folder)
    findings = list(find(channel, split or _splits_there(channel), bad_annotations))
    if output_format is Format.JSON:
        print_json([finding.to_json() for finding in findings])
    else:
        for finding in findings:
            show_line(f"{finding.severity}: {finding.code}: {finding.message} ({finding.path})")
        if not findings:
            show_line("no findings")
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        raise PreflightError(f"{folder}: {errors} kind(s) of error in this set")


def _splits_there(channel: TrainChannel) -> list[str]:
    pattern = channel.annotations("*")
    before, after = pattern.name.split("*")
    names = sorted(
        path.name.removeprefix(before).removesuffix(after)
        for path in pattern.parent.glob(pattern.name)
    )
    return names or ["train2017", "val2017"]
