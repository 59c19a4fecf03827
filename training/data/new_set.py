"""Write a new set in the layout that training reads: pictures of another set, new annotations."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.picture_file import quiet_about_large_ones
from training.data.picture_mending import Mending, write_mended
from training.data.progress import SILENT, ShowProgress
from training.data.threads import thread_pool
from training.layout import TrainChannel

WRITERS = 8
"""Threads."""


@dataclass(frozen=True)
class NewPicture:
    """A picture of the new set.

    Attributes:
        source: The file that it is made from.
        name: Its file_name.
        mending: What is changed in it; None for the very same bytes.
    """

    source: Path
    name: str
    mending: Mending | None = None


@dataclass(frozen=True)
class NewSplit:
    """A split of the new set."""

    name: str
    document: dict[str, Any]
    """In COCO's format."""
    pictures: tuple[NewPicture, ...]


def write_split(
    root: Path, split: NewSplit, *, hard_link: bool, show_progress: ShowProgress | None = None
) -> None:
    """Write a split's pictures and annotations below a new folder.

    Args:
        root: The new set's folder.
        split: What to write.
        hard_link: Give a picture that is not changed a second name rather than copy it, where the
            file system can do that.
        show_progress: Makes the display of the work.

    Raises:
        OSError: Something cannot be written.
    """
    channel = TrainChannel(root)
    folder = channel.images(split.name)
    _make_folders(folder, split.pictures)
    show = show_progress or (lambda _name, _total: nullcontext(SILENT))
    with show(split.name, len(split.pictures)) as progress:

        def write(picture: NewPicture) -> None:
            _write_picture(picture, folder, hard_link)
            progress.advance(1)

        with quiet_about_large_ones(), thread_pool(WRITERS) as writers:
            for _ in writers.map(write, split.pictures):
                pass
    path = channel.annotations(split.name)
    path.parent.mkdir(exist_ok=True)
    write_json(path, split.document)


def write_json(path: Path, document: Any) -> None:
    """Write JSON that every parser takes, through to the disk: a number that is none is null."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(without_nan(document), ensure_ascii=False, allow_nan=False)
    with path.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


def without_nan(value: Any) -> Any:
    """Return a value of JSON with None for NaN and the infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _make_folders(folder: Path, pictures: Sequence[NewPicture]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for parent in {(folder / picture.name).parent for picture in pictures}:
        parent.mkdir(parents=True, exist_ok=True)


def _write_picture(picture: NewPicture, folder: Path, hard_link: bool) -> None:
    target = folder / picture.name
    if picture.mending is not None:
        write_mended(picture.source, target, picture.mending)
        return
    if hard_link:
        try:
            target.hardlink_to(picture.source.resolve())
        except OSError:
            # Another file system, or one without hard links.
            shutil.copyfile(picture.source, target)
        return
    shutil.copyfile(picture.source, target)
