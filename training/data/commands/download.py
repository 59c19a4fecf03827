"""`download`: fetch COCO and pre-trained weights from their public addresses."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from training.cli import Format, FormatOption, log, print_json
from training.data.commands.show import show_line
from training.data.progress import Progress, format_bytes
from training.data.progress_display import show_progress
from training.errors import Interrupted, UsageError

if TYPE_CHECKING:
    from training.data.download.catalogue import Item
    from training.data.download.plan import ItemPlan
    from training.data.download.run import Done


def download(
    *,
    folder: Annotated[Path, typer.Argument(help="Of the data set; made if absent.")],
    what: Annotated[
        list[str],
        typer.Option(
            help="coco2017 (annotations, val2017, train2017), pretrained (imagenet-r50, "
            "coco-r50fpn), or one of these; may be given several times."
        ),
    ] = ["coco2017"],  # noqa: B006 (Typer copies it)
    mirror: Annotated[
        list[str] | None,
        typer.Option(
            help="Address of a folder with copies of the files, tried before the public addresses; "
            "may be given several times, and is tried in that order."
        ),
    ] = None,
    connections: Annotated[int, typer.Option(min=1, max=64, help="At a time, to one address.")] = 8,
    catalogue: Annotated[
        Path | None, typer.Option(help="A list of other files, of the form of our catalogue.yaml.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be fetched; nothing is.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Download COCO 2017 and pre-trained weights.

    They are verified, and unpacked in their places; a download that broke off goes on.
    """
    from training.data.download.catalogue import CATALOGUE, read_catalogue
    from training.data.download.run import Settings
    from training.data.download.run import download as fetch

    mirrors = _read_mirrors(mirror or [])
    items = read_catalogue(catalogue or CATALOGUE).select(what)
    if dry_run:
        _show_plan(folder, items, mirrors, output_format)
        return
    settings = Settings(folder, mirrors, connections)
    try:
        done = fetch(items, settings, _Reporter())
    except KeyboardInterrupt:
        raise Interrupted(
            f"{folder}: what was downloaded is kept; run the same command again to go on"
        ) from None
    _show_done(folder, done, output_format)


def _read_mirrors(mirrors: Sequence[str]) -> tuple[str, ...]:
    from training.data.download.catalogue import problem_of_address

    for mirror in mirrors:
        if problem := problem_of_address(mirror):
            raise UsageError(f"--mirror {mirror} {problem}")
    return tuple(mirrors)


class _Reporter:
    def progress(self, title: str, total_bytes: int) -> AbstractContextManager[Progress]:
        return show_progress(title, total_bytes, "bytes")

    def note(self, text: str) -> None:
        log.print(text, markup=False)


def _show_plan(
    folder: Path, items: Sequence[Item], mirrors: tuple[str, ...], output_format: Format
) -> None:
    from training.data.download.plan import plan_items
    from training.data.download.space import free_at, needed_bytes
    from training.data.download.there import missing_by_size

    plans = plan_items(folder, items, lambda _, entries: missing_by_size(folder, entries))
    need = needed_bytes([plan.room for plan in plans])
    free = free_at(folder).bytes
    if output_format is Format.JSON:
        print_json(
            {
                "folder": str(folder),
                "items": [_plan_to_json(plan, mirrors) for plan in plans],
                "needed_bytes": need,
                "free_bytes": free,
            }
        )
        return
    for plan in plans:
        item = plan.item
        show_line(f"{item.key}: {_describe_task(plan)}")
        show_line(f"  to {folder / item.path}")
        for address in item.from_mirrors(mirrors):
            show_line(f"  from {address}{_doubts(item, address)}")
        show_line(f"  sha256 {item.sha256 or 'unknown; it is recorded'}")
    enough = "" if need <= free else ": too little"
    show_line(f"needs {format_bytes(need)} of space, {format_bytes(free)} are free{enough}")


def _describe_task(plan: ItemPlan) -> str:
    from training.data.download.plan import Task

    if plan.task is Task.NOTHING:
        return "there (sizes compared only)"
    left = f", {format_bytes(plan.left_bytes)} of it are there" if plan.left_bytes else ""
    if plan.task is Task.REPAIR:
        return f"{len(plan.wrong):,} of {len(plan.entries):,} files to fetch again{left}"
    about = "" if plan.item.size else "about "
    return f"{plan.item.name}, {about}{format_bytes(plan.item.most_size)} to fetch{left}"


def _doubts(item: Item, address: str) -> str:
    if not address.startswith("http://"):
        return ""
    return (
        " (plain http: the checksum is what can be trusted)"
        if item.sha256
        else (" (not taken: plain http, and no checksum is known)")
    )


def _plan_to_json(plan: ItemPlan, mirrors: tuple[str, ...]) -> dict[str, Any]:
    return {
        "what": plan.item.key,
        "task": str(plan.task),
        "path": plan.item.path,
        "name": plan.item.name,
        "size": plan.item.size,
        "sha256": plan.item.sha256,
        "addresses": list(plan.item.from_mirrors(mirrors)),
        "left_bytes": plan.left_bytes,
        "fetch_bytes": plan.fetch_bytes,
        "wrong_files": [entry.path for entry in plan.wrong],
    }


def _show_done(folder: Path, done: Sequence[Done], output_format: Format) -> None:
    files = sum(item.files for item in done)
    total = sum(item.total_bytes for item in done)
    fetched = sum(item.fetched_bytes for item in done)
    seconds = sum(item.seconds for item in done)
    if output_format is Format.JSON:
        print_json(
            {
                "folder": str(folder),
                "items": [_done_to_json(item) for item in done],
                "files": files,
                "bytes": total,
                "fetched_bytes": fetched,
                "seconds": round(seconds, 1),
            }
        )
        return
    for item in done:
        show_line(_describe_done(item))
    show_line(
        f"{folder}: {files:,} files, {format_bytes(total)}, verified; {format_bytes(fetched)} "
        f"fetched in {seconds:,.1f} s"
    )


def _describe_done(done: Done) -> str:
    came = (
        "was there"
        if done.address is None
        else f"{format_bytes(done.fetched_bytes)} from {done.address} in {done.seconds:,.1f} s"
    )
    return (
        f"{done.item.key}: {done.files:,} files in {done.item.path}, "
        f"{format_bytes(done.total_bytes)}; {came}; verified by {', '.join(done.verified)}"
    )


def _done_to_json(done: Done) -> dict[str, Any]:
    return {
        "what": done.item.key,
        "task": str(done.task),
        "path": done.item.path,
        "files": done.files,
        "bytes": done.total_bytes,
        "fetched_bytes": done.fetched_bytes,
        "seconds": round(done.seconds, 1),
        "address": done.address,
        "sha256": done.sha256,
        "verified": list(done.verified),
    }
