"""Pictures from anywhere: found in folders, and decoded as a person sees them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image, ImageOps
from torch import Tensor

from training.data.picture_file import OPENED_AS, SUFFIXES, NoPicture, read_picture
from training.data.picture_mending import to_eight_bits
from training.errors import UsageError
from training.maskrcnn.data.pictures import DRAFT_FACTOR, BrokenPicture, resize, resized_size
from training.maskrcnn.hyperparameters import Hyperparameters

KNOWN_SUFFIXES = frozenset(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
PICTURES = "pictures"
"""Folder of an output for pictures with drawings."""
FIRST_TURNED = 5
"""EXIF's orientations from here on swap width and height."""


@dataclass(frozen=True)
class Photo:
    """A picture file to detect in."""

    path: Path
    name: str
    """What results call it, unlike any other: its path below the folder that was given."""


@dataclass(frozen=True)
class Frame:
    """A picture as detections refer to it."""

    image_id: int
    height: int
    width: int


def find_photos(places: Sequence[Path], *, output: Path) -> list[Photo]:
    """Return the pictures of files and folders, each once, in a fixed order.

    Args:
        places: A file is taken whatever its name is; in a folder and the folders below it, those
            whose names end as pictures' do, and do not begin with a dot.
        output: Its folder PICTURES is left out of the search, and all of it where it lies below a
            place: there may be pictures with drawings.

    Raises:
        UsageError: A place is not there, or a folder has no picture.
    """
    seen: set[Path] = set()
    taken: set[str] = set()
    photos = []
    for place in places:
        for path, name in _look_at(place, output.resolve()):
            if path.resolve() not in seen:
                seen.add(path.resolve())
                photos.append(Photo(path, unique(name, taken)))
    return photos


def unique(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it: the second `dog.jpg` is `dog-2.jpg`."""
    path, number, free = PurePosixPath(name), 1, name
    # Some file systems take Dog.jpg for dog.jpg.
    while free.casefold() in taken:
        number += 1
        free = str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
    taken.add(free.casefold())
    return free


def _look_at(place: Path, output: Path) -> list[tuple[Path, str]]:
    if place.is_file():
        return [(place, place.name)]
    if not place.is_dir():
        raise UsageError(f"{place}: no such file or folder")
    found = [(path, path.relative_to(place).as_posix()) for path in _walk(place, output)]
    if not found:
        raise UsageError(
            f"{place}: no picture in it; their names end with {', '.join(sorted(KNOWN_SUFFIXES))}"
        )
    return found


def _walk(folder: Path, output: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        here = Path(parent)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and (here / name).resolve() not in {output, output / PICTURES}
        )
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() in KNOWN_SUFFIXES:
                yield here / name


@dataclass(frozen=True)
class Opening:
    """How a picture is to be opened.

    As it is stored, its pixels are where an annotation file has them: EXIF's orientation is
    ignored, as in training. Otherwise the picture is turned upright first.
    """

    as_stored: bool
    short_side: int
    max_side: int

    @classmethod
    def of(cls, hyperparameters: Hyperparameters, *, as_stored: bool) -> Opening:
        """Open pictures at the size at which the trainer evaluates."""
        return cls(
            as_stored, max(hyperparameters.image_short_sides), hyperparameters.image_max_side
        )

    def frame_of(self, photo: Photo) -> tuple[int, int]:
        """Return height and width of the picture.

        Raises:
            BrokenPicture: It is no picture, or too large to be safe.
        """
        known = read_picture(photo.path, decode=False)
        if isinstance(known, NoPicture):
            raise BrokenPicture(f"{photo.path}: {known.reason}")
        width, height = known.frame
        if known.orientation >= FIRST_TURNED and not self.as_stored:
            return width, height
        return height, width

    def scaled(self, photo: Photo, frame: tuple[int, int]) -> Tensor:
        """Return the picture at the size that the model takes: (3, height, width) uint8, RGB.

        Raises:
            BrokenPicture: It cannot be decoded to its end.
        """
        size = resized_size(frame, short_side=self.short_side, max_side=self.max_side)
        return resize(np.array(self.whole(photo, size)), size)

    def whole(self, photo: Photo, size: tuple[int, int] | None = None) -> Image.Image:
        """Return the picture as RGB.

        Args:
            size: Height and width that it will be scaled to; a JPEG is then decoded at a half, a
                quarter or an eighth of its size where that is still well above it.

        Raises:
            BrokenPicture: It cannot be decoded to its end.
        """
        try:
            with Image.open(photo.path, formats=OPENED_AS) as image:
                if size is not None:
                    short, long = (DRAFT_FACTOR * side for side in sorted(size))
                    is_wide = image.width > image.height
                    image.draft(None, (long, short) if is_wide else (short, long))
                image.load()
                upright = image if self.as_stored else ImageOps.exif_transpose(image)
                return to_eight_bits(upright).convert("RGB")
        except Exception as error:  # Decoders raise many kinds for broken files.
            raise BrokenPicture(f"{photo.path}: {error}") from error
