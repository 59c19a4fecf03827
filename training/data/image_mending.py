"""Mend the entries of images: which file each one means, and how that file must be changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from training.data.annotation import Frame, shorten
from training.data.annotation_mending import whole_number
from training.data.entries import LARGEST_SIDE_PX
from training.data.ledger import Ledger
from training.data.picture_file import NoPicture, Picture, fits_name
from training.data.picture_mending import Mending, mending_of, suffixes_after

_LONGEST_STEM_BYTES = 200


@dataclass
class Entry:
    """An entry of images whose file is there.

    Attributes:
        place: In the annotation file.
        fields: As the file has them.
        image_id: Its own.
        file: Path below the folder of pictures.
        told: The size that the entry gives; None where it gives none.
    """

    place: str
    fields: dict[str, Any]
    image_id: int
    file: str
    told: Frame | None


@dataclass(frozen=True)
class CleanImage:
    """An entry of images of the copy, and how its file is made."""

    fields: dict[str, Any]
    image_id: int
    frame: Frame
    file: str
    """Path below the source's folder."""
    name: str
    """Path below the copy's folder."""
    mending: Mending | None


@dataclass
class Entries:
    """Those whose file is there, and which image_id means which of them."""

    kept: list[Entry] = field(default_factory=list)
    ids: dict[int, int] = field(default_factory=dict)


def find_entries(images: Sequence[Any], there: frozenset[str], ledger: Ledger) -> Entries:
    """Return the entries that have an id and a file; two of one file become one.

    Args:
        images: The file's entries.
        there: Paths of the files below the folder of pictures.
        ledger: Where changes are told.
    """
    found = Entries()
    by_file: dict[str, Entry] = {}
    files = _Files(there)
    for index, told in enumerate(images):
        place = f"images[{index}]"
        fields = told if isinstance(told, dict) else {}
        image_id, name = whole_number(fields.get("id")), fields.get("file_name")
        shown = f"{place} {shorten(name)}"
        if image_id is None:
            ledger.dropped("picture", shown, "its entry has no id")
            continue
        if image_id in found.ids:
            ledger.dropped("picture", shown, "its id is there already")
            continue
        file = files.find(name)
        if file is None:
            ledger.dropped("picture", shown, "its file is not there")
            continue
        first = by_file.get(file)
        if first is not None:
            ledger.dropped("picture", shown, f"its file is that of {first.place}: put together")
            found.ids[image_id] = first.image_id
            continue
        entry = Entry(shown, fields, image_id, file, _frame_told(fields))
        by_file[file] = entry
        found.ids[image_id] = image_id
        found.kept.append(entry)
    return found


class _Files:
    """Finds the file that an entry means."""

    def __init__(self, there: frozenset[str]) -> None:
        self._there = there
        names = Counter(PurePosixPath(path).name for path in there)
        self._only_ones = {
            PurePosixPath(path).name: path for path in there if names[PurePosixPath(path).name] == 1
        }

    def find(self, name: Any) -> str | None:
        """Return the path of a file_name; where it leads elsewhere, of the one file so named."""
        if type(name) is not str:
            return None
        if name in self._there:
            return name
        return self._only_ones.get(name.replace("\\", "/").rpartition("/")[2])


def _frame_told(fields: Mapping[str, Any]) -> Frame | None:
    width, height = whole_number(fields.get("width")), whole_number(fields.get("height"))
    if width is None or height is None:
        return None
    is_frame = 1 <= width <= LARGEST_SIDE_PX and 1 <= height <= LARGEST_SIDE_PX
    return (width, height) if is_frame else None


def clean_images(
    entries: Sequence[Entry],
    pictures: Mapping[str, Picture | NoPicture],
    annotated: frozenset[int],
    ledger: Ledger,
) -> Iterator[CleanImage]:
    """Yield the images of the copy; those that cannot be used are left out.

    Args:
        entries: Those whose file is there.
        pictures: What each file is, decoded to its end.
        annotated: Ids of the images that have an annotation.
        ledger: Where changes are told.
    """
    turns = _are_shown_turned(entries, pictures)
    names = _Names(entry.file for entry in entries)
    for entry in entries:
        picture = pictures[entry.file]
        reason = _why_unusable(picture)
        if reason is not None:
            ledger.dropped("picture", f"{entry.place} ({_detail(picture)})", reason)
            continue
        assert isinstance(picture, Picture)
        frame, turn = _fit(entry, picture, turns)
        if frame is None:
            if entry.image_id in annotated:
                told = f"{picture.frame[0]} x {picture.frame[1]}, told as {_words(entry.told)}"
                ledger.dropped(
                    "picture", f"{entry.place} ({told})", "its size is not that of its annotations"
                )
                continue
            frame = picture.frame
        mending = mending_of(picture, turn=turn)
        for how in _changes(entry, picture, frame, turn):
            ledger.changed("picture", entry.place, how)
        name = names.after(entry.file, picture, mending)
        yield _clean_image(entry, frame, name, mending, ledger)


def _clean_image(
    entry: Entry, frame: Frame, name: str, mending: Mending | None, ledger: Ledger
) -> CleanImage:
    if name != entry.fields["file_name"]:
        ledger.changed("picture", f"{entry.place} is {shorten(name)}", "renamed it")
    fields = {
        **entry.fields,
        "id": entry.image_id,
        "file_name": name,
        "width": frame[0],
        "height": frame[1],
    }
    return CleanImage(fields, entry.image_id, frame, entry.file, name, mending)


def _why_unusable(picture: Picture | NoPicture) -> str | None:
    if isinstance(picture, NoPicture):
        return "it has too many pixels" if picture.is_huge else "its file is no picture"
    return "it cannot be decoded to its end" if picture.broken else None


def _detail(picture: Picture | NoPicture) -> str:
    return picture.reason if isinstance(picture, NoPicture) else str(picture.broken)


def _words(frame: Frame | None) -> str:
    return "nothing" if frame is None else f"{frame[0]} x {frame[1]}"


def _are_shown_turned(
    entries: Sequence[Entry], pictures: Mapping[str, Picture | NoPicture]
) -> bool:
    """Return whether the set's annotations belong to pictures turned as EXIF says.

    Only a picture whose width and height EXIF swaps can tell; all that can must agree.
    """
    fits_stored = fits_turned = False
    for entry in entries:
        picture = pictures[entry.file]
        if isinstance(picture, Picture) and picture.orientation >= 5:
            fits_stored |= entry.told == picture.frame
            fits_turned |= entry.told == picture.frame[::-1]
    return fits_turned and not fits_stored


def _fit(entry: Entry, picture: Picture, turns: bool) -> tuple[Frame | None, bool]:
    """Return the size that fits the annotations, None if none does, and whether to turn."""
    stored = picture.frame
    turned = stored[::-1] if picture.orientation >= 5 else stored
    if entry.told is None:
        return (turned, True) if turns else (stored, False)
    if entry.told == stored == turned:
        return stored, turns
    if entry.told == stored:
        return stored, False
    return (turned, True) if entry.told == turned else (None, False)


def _changes(entry: Entry, picture: Picture, frame: Frame, turn: bool) -> Iterator[str]:
    told = (entry.fields.get("width"), entry.fields.get("height"))
    if told != frame or {*map(type, told)} != {int}:
        yield "set width and height from its file"
    if picture.orientation != 1:
        yield "turned it upright" if turn else "removed its EXIF rotation, pixels as stored"
    mending = mending_of(picture, turn=turn)
    if mending is None or mending.keeps_pixels:
        return
    if picture.mode in {"I", "F"} or picture.mode.startswith("I;"):
        yield "scaled its values to 8 bits"
    if picture.mode == "CMYK":
        yield "turned CMYK into RGB"
    if picture.is_transparent:
        yield "put it on white"
    if picture.is_animated:
        yield "kept its first frame"


class _Names:
    """Gives each file of the copy a name of its own."""

    def __init__(self, files: Iterator[str]) -> None:
        # Some file systems take a.jpg and A.jpg for one file.
        self._taken = {file.casefold() for file in files}

    def after(self, file: str, picture: Picture, mending: Mending | None) -> str:
        """Return the name of a file after mending, which may end in another way."""
        suffixes = suffixes_after(picture, mending)
        path = Path(file)
        if mending is None or mending.keeps_pixels:
            fits = fits_name(file, picture.format)
        else:
            fits = path.suffix.lower() in suffixes
        if fits:
            return file
        stem = path.stem.encode()[:_LONGEST_STEM_BYTES].decode(errors="ignore")
        name, number = str(path.with_name(stem + suffixes[0])), 2
        while name.casefold() in self._taken:
            name, number = str(path.with_name(f"{stem}-{number}{suffixes[0]}")), number + 1
        self._taken.add(name.casefold())
        return name
