"""`check`: look for faults in one set, and write a copy without them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from training.cli import Format, FormatOption, log, print_json
from training.data.commands.show import show_line
from training.data.progress import Progress
from training.data.progress_display import show_progress
from training.errors import JobFailed, PreflightError, UsageError

if TYPE_CHECKING:
    from training.data.annotation_mending import Choices
    from training.data.clean import CleanSet
    from training.data.health import Health

EXHIBITS = 24
"""Pictures of a split on the page."""


def check(
    *,
    source: Annotated[
        Path, typer.Argument(metavar="SET", help="A folder in COCO's format, or its JSON file.")
    ],
    split: Annotated[
        list[str] | None, typer.Option(help="For example train2017; all that are there if absent.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the pictures, where it is not found by itself.")
    ] = None,
    headers_only: Annotated[
        bool, typer.Option("--headers-only", help="Do not decode the pictures to their end.")
    ] = False,
    bad_annotations: Annotated[
        Literal["stop", "skip"],
        typer.Option(help="What training will do with an annotation that it cannot use."),
    ] = "stop",
    html: Annotated[
        Path | None, typer.Option(help="Write the report as a page with pictures to this file.")
    ] = None,
    fix: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write a cleaned copy to this new folder.")
    ] = None,
    boxes_as_masks: Annotated[
        bool, typer.Option("--boxes-as-masks", help="With --fix: the box where a mask is missing.")
    ] = False,
    crowds_as_objects: Annotated[
        bool, typer.Option("--crowds-as-objects", help="With --fix: iscrowd 0 everywhere.")
    ] = False,
    hard_link: Annotated[
        bool, typer.Option("--hard-link", help="With --fix: link pictures that stay as they are.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Check the annotations and pictures of one set.

    Exit code 3 where there is an error. With --fix a cleaned copy is written, and what was dropped
    and changed is told; the set itself is never changed.
    """
    from training.data.annotation_mending import Choices
    from training.data.check import examine
    from training.data.splits import find_splits

    if fix is None and (boxes_as_masks or crowds_as_objects or hard_link):
        raise UsageError("--boxes-as-masks, --crowds-as-objects and --hard-link go with --fix OUT")
    _require_writable(html, fix)
    splits = find_splits(source, split, images)
    health = examine(
        splits,
        bad_annotations=bad_annotations,
        decode=not headers_only,
        show_progress=_show,
        exhibits=EXHIBITS if html else 0,
    )
    if html:
        _write_page(html, source, health)
    choices = Choices(boxes_as_masks=boxes_as_masks, crowds_as_objects=crowds_as_objects)
    cleaned = None
    if fix is not None:
        cleaned = _fix(health, fix, choices, hard_link=hard_link, decoded=not headers_only)
    _print(source, health, cleaned, output_format)
    if cleaned is None and health.errors:
        can_be_cleaned = all(one.can_be_cleaned for one in health.splits)
        raise PreflightError(
            f"{source}: {health.errors} kind(s) of error in this set"
            + ("; --fix OUT writes a cleaned copy" if can_be_cleaned else "")
        )


def _show(name: str, total: int) -> AbstractContextManager[Progress]:
    return show_progress(f"Reading pictures of {name}", total, "pictures")


def _require_writable(html: Path | None, fix: Path | None) -> None:
    """Refuse what cannot be written before the pictures are read, which may take minutes."""
    from training.data.aside import require_free

    if html is not None and (html.is_dir() or not html.resolve().parent.is_dir()):
        raise UsageError(f"--html {html}: must be a file, in a folder that is there")
    if fix is not None:
        require_free(fix, "--fix")


def _write_page(html: Path, source: Path, health: Health) -> None:
    from training.data.health_page import render
    from training.maskrcnn.files import FULL, write_named

    try:
        write_named(html, render(source, health).encode())
    except OSError as error:
        kind = JobFailed if error.errno in FULL else UsageError
        raise kind(f"--html {html}: cannot be written ({error.strerror})") from error
    log.print(f"Report with pictures: {html}", markup=False)


def _fix(
    health: Health, out: Path, choices: Choices, *, hard_link: bool, decoded: bool
) -> CleanSet:
    from training.data.clean import write_clean_set

    splits = [(one.split, one.known_files() if decoded else {}) for one in health.splits]
    return write_clean_set(splits, out, choices, hard_link=hard_link, show_progress=_show_fix)


def _show_fix(name: str, total: int) -> AbstractContextManager[Progress]:
    return show_progress(f"Writing pictures of {name}", total, "pictures")


def _print(source: Path, health: Health, cleaned: CleanSet | None, output_format: Format) -> None:
    if output_format is Format.JSON:
        report = health.to_json(source)
        print_json(report if cleaned is None else {**report, "fix": cleaned.to_json()})
        return
    from training.data.health_text import lines_of_health

    for line in lines_of_health(health):
        show_line(line)
    for line in cleaned.lines() if cleaned else ():
        show_line(line)
