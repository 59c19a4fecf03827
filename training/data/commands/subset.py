"""`subset`: choose pictures of a set, and write them as a set of their own."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, print_json
from training.data.census import SIZES, Size
from training.data.commands.show import show_line
from training.data.progress import Progress
from training.data.progress_display import show_progress
from training.errors import UsageError


def subset(
    *,
    source: Annotated[
        Path, typer.Argument(metavar="SET", help="A folder in COCO's format, or its JSON file.")
    ],
    out: Annotated[Path, typer.Argument(help="Folder of the new set: absent or empty.")],
    images: Annotated[int | None, typer.Option(help="So many pictures of each split.")] = None,
    classes: Annotated[
        str | None,
        typer.Option(help="Names or ids, with commas: pictures and annotations of these only."),
    ] = None,
    area: Annotated[
        str | None,
        typer.Option(help="small, medium, large, with commas: pictures with such an object."),
    ] = None,
    include: Annotated[
        Path | None, typer.Option(help="File of names of pictures, one a line, that are to be in.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed chooses the same pictures.")] = 1,
    split: Annotated[
        list[str] | None, typer.Option(help="For example train2017; all that are there if absent.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder of the pictures, where it is not found by itself.")
    ] = None,
    renumber: Annotated[
        bool, typer.Option("--renumber", help="Number the categories from 1; else ids stay.")
    ] = False,
    hard_link: Annotated[
        bool, typer.Option("--hard-link", help="Link the pictures' files rather than copy them.")
    ] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Write some pictures of a set as a set of their own.

    It has the layout that training reads.
    """
    from training.data.splits import find_splits
    from training.data.subset import Wanted, write_subset

    wanted = Wanted(
        images=images,
        classes=_split_names("--classes", classes),
        areas=_split_sizes(area),
        include=_read_names(include) if include else frozenset(),
        seed=seed,
        renumber=renumber,
    )
    splits = find_splits(source, split, pictures)
    made = write_subset(splits, out, wanted, hard_link=hard_link, show_progress=_show)
    if output_format is Format.JSON:
        print_json(made.to_json())
        return
    for line in made.lines():
        show_line(line)


def _show(name: str, total: int) -> AbstractContextManager[Progress]:
    return show_progress(f"Copying pictures of {name}", total, "pictures")


def _split_names(option: str, text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise UsageError(f"{option} {text!r}: names nothing")
    return names


def _split_sizes(text: str | None) -> tuple[Size, ...]:
    names = _split_names("--area", text)
    wrong = [name for name in names if name not in SIZES]
    if wrong:
        raise UsageError(f"--area {', '.join(wrong)}: must be small, medium or large")
    return tuple(size for size in SIZES if size in names)


def _read_names(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"--include {path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--include {path}: is not UTF-8 text, one name a line") from error
    names = frozenset(line.strip() for line in lines if line.strip())
    if not names:
        raise UsageError(f"--include {path}: names no picture")
    return names
