"""`pack`: put the pictures of a set into shards."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.data.commands.show import show_line
from training.data.pack.target import Kind, Target
from training.data.progress import Progress, format_bytes
from training.data.progress_display import show_progress
from training.errors import PreflightError, UsageError

if TYPE_CHECKING:
    from training.data.pack.pack import Packed
    from training.data.pack.verify import Difference
    from training.data.splits import Split

MOST_SHOWN = 50


def pack(
    *,
    source: Annotated[
        Path, typer.Argument(metavar="SET", help="A folder in COCO's format, or its JSON file.")
    ],
    out: Annotated[
        Path, typer.Argument(help="Folder of the packed set; that of SET itself is allowed.")
    ],
    shard_mib: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Pictures of a shard, in MiB.")
    ] = 256,
    kind: Annotated[
        Kind,
        typer.Option(
            "--as",
            help="webdataset: tar files, which training here reads. tfrecord: for tf2-smddp.",
        ),
    ] = Kind.WEBDATASET,
    split: Annotated[
        list[str] | None, typer.Option(help="For example train2017; all that are there if absent.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the pictures, where it is not found by itself.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare what was packed with SET, and write nothing."),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Shards at a time; as many as cores if absent."),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Pack pictures into shards.

    For file systems where opening many small files is slow. The bytes of the pictures stay as they
    are. A run that was ended goes on where it was. With --verify every byte is compared; exit code
    3 where one differs.
    """
    from training.data.pack.pack import pack as write
    from training.data.splits import find_splits

    splits = find_splits(source, split, images)
    if verify:
        _verify(splits, out, kind, shard_mib, output_format)
        return
    packed = write(
        splits,
        out,
        kind=kind,
        shard_mib=shard_mib,
        workers=jobs or len(os.sched_getaffinity(0)),
        show_progress=_show,
    )
    _print(packed, output_format)


def _show(name: str, total: int) -> AbstractContextManager[Progress]:
    return show_progress(f"Packing pictures of {name}", total, "pictures")


def _print(packed: list[Packed], output_format: Format) -> None:
    if output_format is Format.JSON:
        print_json([one.to_json() for one in packed])
        return
    for one in packed:
        state = f"{one.written:,} written now" if one.written else "there already"
        show_line(
            f"{one.folder}: {one.split}, {one.pictures:,} pictures in {one.shards:,} shards, "
            f"{format_bytes(one.size)}; {state}"
        )


def _verify(
    splits: tuple[Split, ...], out: Path, kind: Kind, shard_mib: int, output_format: Format
) -> None:
    from training.data.pack.index import is_packed
    from training.data.pack.plan import make_plan
    from training.data.pack.verify import verify as compare

    found: list[Difference] = []
    pictures = 0
    for split in splits:
        target = Target(out, split.name, kind)
        if not is_packed(target.index):
            raise UsageError(f"{target.index}: no {kind} shards of {split.name} are packed there")
        plan = make_plan(split, kind=kind, shard_mib=shard_mib)
        title = f"Comparing pictures of {split.name}"
        with show_progress(title, plan.pictures, "pictures") as progress:
            found += compare(target, plan, progress)
        pictures += plan.pictures
    if output_format is Format.JSON:
        print_json([difference.to_json() for difference in found])
    else:
        for difference in found[:MOST_SHOWN]:
            show_line(f"{difference.path}: {difference.detail}")
        if not found:
            show_line(f"{out}: every byte of {pictures:,} pictures is as in the source")
    if found:
        raise PreflightError(f"{out}: {len(found):,} difference(s) from the source")
