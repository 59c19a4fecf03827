"""Whether the pictures of a split are there, whole, and what their annotations say."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from training.data.annotation import Frame, shorten
from training.data.paths import problem_of_path
from training.data.picture_file import (
    DEEP_MODES,
    GREY_MODES,
    NoPicture,
    Picture,
    fits_name,
    is_large,
    quiet_about_large_ones,
    read_picture,
)
from training.data.progress import SILENT, Progress
from training.data.rules import (
    IMAGE_ANIMATED,
    IMAGE_BROKEN,
    IMAGE_CMYK,
    IMAGE_DEEP,
    IMAGE_EXTENSION,
    IMAGE_FILE_NAME,
    IMAGE_HUGE,
    IMAGE_LARGE,
    IMAGE_MISSING,
    IMAGE_ROTATED,
    IMAGE_SIZE,
    IMAGE_TRANSPARENT,
    IMAGE_TURN_UNCLEAR,
    IMAGE_UNREADABLE,
    Rule,
)
from training.data.tally import Tally
from training.data.threads import thread_pool

READERS = 16
"""Threads: on a network file system a header costs a round trip, not work."""

Report = Callable[[Rule, str], None]


@dataclass
class PictureCounts:
    """What the pictures of a split are."""

    kinds: Counter[str] = field(default_factory=Counter)
    """By format and pixels: JPEG RGB, JPEG grey, PNG palette."""
    frames: Counter[Frame] = field(default_factory=Counter)
    total_bytes: int = 0
    extra: frozenset[str] = frozenset()
    """Files that the annotations do not name."""
    known: dict[str, Picture | NoPicture] = field(default_factory=dict)
    """What each file is."""

    def count(self, picture: Picture, size: int) -> None:
        self.kinds[f"{picture.format} {_words_of_mode(picture.mode)}"] += 1
        self.frames[picture.frame] += 1
        self.total_bytes += size


def check_pictures(
    folder: Path,
    pictures: Mapping[str, Frame],
    tally: Tally,
    *,
    decode: bool = False,
    progress: Progress = SILENT,
) -> PictureCounts:
    """Compare a split's folder with what the annotations say of it.

    Args:
        folder: The split's pictures.
        pictures: file_name to the size that the annotations give.
        tally: Where faults go.
        decode: Read every picture to its end; otherwise only its header.
        progress: Told of each picture looked at.
    """
    there = files_below(folder)
    present: list[str] = []
    for name in pictures:
        problem = problem_of_path(name)
        if problem:
            tally.add(IMAGE_FILE_NAME, f"{shorten(name)} {problem}", name)
        elif name in there:
            present.append(name)
        else:
            tally.add(IMAGE_MISSING, shorten(name), name)
    counts = PictureCounts(extra=there - pictures.keys())
    for name, picture in read_pictures(folder, present, decode=decode):
        for rule, detail in faults_of(name, picture, pictures[name]):
            tally.add(rule, f"{shorten(name)}{detail}", name)
        counts.known[name] = picture
        if isinstance(picture, Picture):
            counts.count(picture, (folder / name).stat().st_size)
        progress.advance(1)
    return counts


def read_pictures(
    folder: Path, names: Iterable[str], *, decode: bool
) -> Iterator[tuple[str, Picture | NoPicture]]:
    """Yield what each picture is, in the order of the names; several are read side by side."""
    names = list(names)

    def read(name: str) -> Picture | NoPicture:
        return read_picture(folder / name, decode=decode)

    with quiet_about_large_ones(), thread_pool(READERS) as readers:
        yield from zip(names, readers.map(read, names), strict=True)


def faults_of(name: str, picture: Picture | NoPicture, told: Frame) -> Iterator[tuple[Rule, str]]:
    """Yield what is wrong with a picture, with the words that follow its name."""
    if isinstance(picture, NoPicture):
        yield IMAGE_HUGE if picture.is_huge else IMAGE_UNREADABLE, f" ({picture.reason})"
        return
    if picture.broken:
        yield IMAGE_BROKEN, f" ({picture.broken})"
    if is_large(picture.frame):
        yield IMAGE_LARGE, f" is {picture.frame[0]} x {picture.frame[1]}"
    yield from _faults_of_size(picture, told)
    if picture.mode in DEEP_MODES:
        yield IMAGE_DEEP, f" ({_words_of_mode(picture.mode)})"
    if picture.mode == "CMYK":
        yield IMAGE_CMYK, ""
    if picture.is_transparent:
        yield IMAGE_TRANSPARENT, ""
    if picture.is_animated:
        yield IMAGE_ANIMATED, f" ({picture.format})"
    if not fits_name(name, picture.format):
        yield IMAGE_EXTENSION, f" is {picture.format}"


def _faults_of_size(picture: Picture, told: Frame) -> Iterator[tuple[Rule, str]]:
    frame, orientation = picture.frame, picture.orientation
    swaps = orientation >= 5
    if frame != told:
        turned = swaps and frame[::-1] == told
        note = f", turned by EXIF orientation {orientation}" if turned else ""
        yield (
            IMAGE_SIZE,
            f" is {frame[0]} x {frame[1]}{note}, annotations say {told[0]} x {told[1]}",
        )
    elif orientation != 1:
        rule = IMAGE_ROTATED if swaps and frame[0] != frame[1] else IMAGE_TURN_UNCLEAR
        yield rule, f" (orientation {orientation})"


def files_below(folder: Path) -> frozenset[str]:
    """Return the paths of all files below a folder: one listing, rather than a call a file.

    Raises:
        OSError: There is no such folder, or it cannot be read.
    """
    return frozenset(_walk(folder, "", set()))


def _walk(folder: Path, prefix: str, seen: set[tuple[int, int]]) -> Iterator[str]:
    status = folder.stat()
    if (status.st_dev, status.st_ino) in seen:
        # A link to a folder above it.
        return
    seen.add((status.st_dev, status.st_ino))
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", seen)
            elif entry.is_file():
                yield prefix + entry.name


def _words_of_mode(mode: str) -> str:
    words = {"P": "palette", "RGBA": "RGB with alpha", "LA": "grey with alpha", "F": "32-bit float"}
    if mode in words:
        return words[mode]
    if mode in GREY_MODES:
        return "grey"
    if mode in DEEP_MODES:
        return "32-bit grey" if mode == "I" else "16-bit grey"
    return mode
