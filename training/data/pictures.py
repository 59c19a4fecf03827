"""Whether the pictures of a split are there and as large as their annotations say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from training.data.annotation import Frame
from training.data.paths import problem_of_path
from training.data.rules import (
    IMAGE_FILE_NAME,
    IMAGE_MISSING,
    IMAGE_ROTATED,
    IMAGE_SIZE,
    IMAGE_UNREADABLE,
    Tally,
)
from training.data.threads import thread_pool

READERS = 16
"""Threads: on a network file system a header costs a round trip, not work."""

_ORIENTATION = 0x0112
"""EXIF's tag; 1 is upright, 5 to 8 swap width and height."""


@dataclass(frozen=True)
class Header:
    """What a picture's header says: its stored size and EXIF orientation."""

    frame: Frame
    orientation: int


def check_pictures(folder: Path, pictures: Mapping[str, Frame], tally: Tally) -> None:
    """Compare a split's folder with what the annotations say of it.

    Args:
        folder: The split's pictures.
        pictures: file_name to the size that the annotations give.
        tally: Where faults go.
    """
    there = _names_in(folder)
    present: list[str] = []
    for name in pictures:
        problem = problem_of_path(name)
        if problem:
            tally.add(IMAGE_FILE_NAME, f"{name!r} {problem}")
        elif name in there or ("/" in name and (folder / name).is_file()):
            present.append(name)
        else:
            tally.add(IMAGE_MISSING, repr(name))
    for name, header in _read_headers(folder, present):
        _check_header(name, header, pictures[name], tally)


def _check_header(name: str, header: Header | str, told: Frame, tally: Tally) -> None:
    if isinstance(header, str):
        tally.add(IMAGE_UNREADABLE, f"{name!r} ({header})")
        return
    turned = header.orientation >= 5 and header.frame[::-1] == told
    if header.frame != told:
        note = f", turned by EXIF orientation {header.orientation}" if turned else ""
        tally.add(
            IMAGE_SIZE,
            f"{name!r} is {header.frame[0]} x {header.frame[1]}{note}, "
            f"annotations say {told[0]} x {told[1]}",
        )
    elif header.orientation != 1:
        tally.add(IMAGE_ROTATED, f"{name!r} (orientation {header.orientation})")


def _names_in(folder: Path) -> frozenset[str]:
    """Return the names in a folder: one listing is far cheaper than asking for each file."""
    with os.scandir(folder) as entries:
        return frozenset(entry.name for entry in entries if entry.is_file())


def _read_headers(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, Header | str]]:
    names = list(names)
    with thread_pool(READERS) as readers:
        yield from zip(
            names, readers.map(read_header, (folder / name for name in names)), strict=True
        )


def read_header(path: Path) -> Header | str:
    """Return a picture's header, or why it has none. Pixels are not decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            # Pillow would decode a PNG to look for EXIF after its pixels.
            exif = picture.getexif() if "exif" in picture.info else {}
            orientation = exif.get(_ORIENTATION, 1)
            return Header(picture.size, orientation if orientation in range(1, 9) else 1)
    except UnidentifiedImageError:
        return "empty file" if path.stat().st_size == 0 else "not a picture"
    except Exception as error:  # Decoders raise many kinds for broken files.
        return str(error) or type(error).__name__
