"""Whether the pictures of a split are there, whole, and what their annotations say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

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
from training.data.picture_store import PictureStore
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
    store: PictureStore,
    pictures: Mapping[str, Frame],
    tally: Tally,
    *,
    decode: bool = False,
    progress: Progress = SILENT,
) -> PictureCounts:
    """Compare a split's pictures with what the annotations say of them.

    Args:
        store: Where the pictures are.
        pictures: file_name to the size that the annotations give.
        tally: Where faults go.
        decode: Read every picture to its end; otherwise only its header.
        progress: Told of each picture looked at.

    Raises:
        OSError: The place cannot be read.
    """
    there = store.names()
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
    for name, picture in read_pictures(store, present, decode=decode):
        for rule, detail in faults_of(name, picture, pictures[name]):
            tally.add(rule, f"{shorten(name)}{detail}", name)
        counts.known[name] = picture
        if isinstance(picture, Picture):
            counts.count(picture, store.size(name))
        progress.advance(1)
    return counts


def read_pictures(
    store: PictureStore, names: Iterable[str], *, decode: bool
) -> Iterator[tuple[str, Picture | NoPicture]]:
    """Yield what each picture is, in the order of the names; several are read side by side."""
    names = list(names)

    def read(name: str) -> Picture | NoPicture:
        return read_stored(store, name, decode=decode)

    with quiet_about_large_ones(), thread_pool(READERS) as readers:
        yield from zip(names, readers.map(read, names), strict=True)


def read_stored(store: PictureStore, name: str, *, decode: bool) -> Picture | NoPicture:
    """Return what one picture of a store is."""
    try:
        file = store.file(name)
    except OSError as error:
        return NoPicture(error.strerror or str(error))
    return read_picture(file, decode=decode)


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


def _words_of_mode(mode: str) -> str:
    words = {"P": "palette", "RGBA": "RGB with alpha", "LA": "grey with alpha", "F": "32-bit float"}
    if mode in words:
        return words[mode]
    if mode in GREY_MODES:
        return "grey"
    if mode in DEEP_MODES:
        return "32-bit grey" if mode == "I" else "16-bit grey"
    return mode
