"""Write a cleaned copy of a set: mended where that is sure, without what cannot be used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.annotation import Frame, shorten
from training.data.annotation_mending import Choices, mend_annotation, whole_number
from training.data.aside import folder_aside
from training.data.category_mending import Categories, Category, unify_categories
from training.data.document import Document, NotCoco, read_document
from training.data.image_mending import CleanImage, clean_images, find_entries
from training.data.ledger import Ledger
from training.data.loose_pictures import loose_pictures, require_outside
from training.data.new_set import NewPicture, NewSplit, write_json, write_split
from training.data.picture_file import NoPicture, Picture
from training.data.picture_store import LooseStore
from training.data.pictures import read_pictures
from training.data.progress import ShowProgress
from training.data.splits import Split
from training.errors import UsageError

RECORD = "cleaned.json"
"""In the copy's folder: everything that was dropped and changed."""

Known = Mapping[str, Picture | NoPicture]
"""Path below a split's folder to what the file is, decoded to its end."""


@dataclass(frozen=True)
class CleanSplit:
    """What a split of the copy has."""

    name: str
    pictures: int
    annotations: int


@dataclass(frozen=True)
class CleanSet:
    """The copy, and what was done."""

    out: Path
    splits: tuple[CleanSplit, ...]
    ledgers: tuple[Ledger, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.out),
            "splits": [
                {"split": one.name, "images": one.pictures, "annotations": one.annotations}
                for one in self.splits
            ],
            "done": [entry for ledger in self.ledgers for entry in ledger.to_json()],
        }

    def lines(self) -> Iterator[str]:
        yield ""
        yield f"cleaned copy: {self.out}"
        for one in self.splits:
            yield f"  {one.name}: {one.pictures:,} pictures, {one.annotations:,} annotations"
        for ledger in self.ledgers:
            yield from ledger.lines()
        if not any(ledger.entries for ledger in self.ledgers):
            yield "nothing had to be dropped or changed"
        yield f"All of it is in {self.out / RECORD}"


@dataclass(frozen=True)
class _Source:
    split: Split
    document: Document
    ledger: Ledger
    known: Known
    folder: Path
    there: frozenset[str]
    """Files below the folder."""


def write_clean_set(
    splits: Sequence[tuple[Split, Known]],
    out: Path,
    choices: Choices,
    *,
    hard_link: bool = False,
    show_progress: ShowProgress | None = None,
) -> CleanSet:
    """Write the copy, aside first, then renamed into place.

    Args:
        splits: Those to copy, with what is known of their pictures; the rest is decoded here.
        out: Absent, or an empty folder.
        choices: What the user said of the set.
        hard_link: Give pictures that are not changed a second name rather than copy them.
        show_progress: Makes the display of the work on a split's pictures.

    Raises:
        UsageError: An annotation file or the pictures cannot be read, nothing is left, or `out`
            holds something or is among the pictures.
        JobFailed: The disk is full.
    """
    sources = [_read(split, known, out) for split, known in splits]
    categories = unify_categories(
        [(one.document.categories, _used_ids(one.document), one.ledger) for one in sources]
    )
    written: list[CleanSplit] = []
    with folder_aside(out, "--fix") as folder:
        for source, ids in zip(sources, categories.ids, strict=True):
            new = _clean_split(source, categories, ids, choices)
            if new is not None:
                write_split(folder, new, hard_link=hard_link, show_progress=show_progress)
                annotations = len(new.document["annotations"])
                written.append(CleanSplit(new.name, len(new.pictures), annotations))
        cleaned = CleanSet(out, tuple(written), tuple(source.ledger for source in sources))
        if not written:
            raise UsageError(_nothing_left(cleaned))
        write_json(folder / RECORD, cleaned.to_json())
    return cleaned


def _read(split: Split, known: Known, out: Path) -> _Source:
    try:
        document = read_document(split.annotations)
    except NotCoco as error:
        raise UsageError(f"{split.annotations}: cannot be cleaned: {error}") from error
    folder, there = loose_pictures(split, _names_in(document))
    require_outside(out, folder, "--fix")
    return _Source(split, document, Ledger(split.name), known, folder, there)


def _used_ids(document: Document) -> frozenset[int]:
    ids = (
        whole_number(annotation.get("category_id"))
        for annotation in document.annotations
        if isinstance(annotation, dict)
    )
    return frozenset(category_id for category_id in ids if category_id is not None)


def _clean_split(
    source: _Source, categories: Categories, category_ids: Mapping[int, int], choices: Choices
) -> NewSplit | None:
    """Return the split to write; None where there is nothing to learn from."""
    found = find_entries(source.document.images, source.there, source.ledger)
    known = dict(source.known)
    unknown = [entry.file for entry in found.kept if entry.file not in known]
    known.update(read_pictures(LooseStore(source.folder), unknown, decode=True))
    annotated = _annotated(source.document, found.ids)
    images = list(clean_images(found.kept, known, annotated, source.ledger))
    annotations = list(_clean_annotations(source, found.ids, category_ids, images, choices))
    if all(annotation["iscrowd"] for annotation in annotations):
        source.ledger.dropped(
            "split", source.split.name, f"no object is left of {len(source.document.annotations):,}"
        )
        return None
    return _new_split(source, images, annotations, categories.entries)


def _names_in(document: Document) -> list[str]:
    return [
        image["file_name"]
        for image in document.images
        if isinstance(image, dict) and type(image.get("file_name")) is str
    ]


def _annotated(document: Document, ids: Mapping[int, int]) -> frozenset[int]:
    """Return the ids of the images that have an annotation, usable or not."""
    return frozenset(
        ids[image_id]
        for annotation in document.annotations
        if isinstance(annotation, dict)
        and (image_id := whole_number(annotation.get("image_id"))) in ids
        and image_id is not None
    )


def _clean_annotations(
    source: _Source,
    image_ids: Mapping[int, int],
    category_ids: Mapping[int, int],
    images: Sequence[CleanImage],
    choices: Choices,
) -> Iterator[dict[str, Any]]:
    """Yield the annotations of the copy, each with an id of its own."""
    ledger = source.ledger
    frames: dict[int, Frame] = {image.image_id: image.frame for image in images}
    ids = _Ids(source.document.annotations)
    for index, told in enumerate(source.document.annotations):
        place = f"annotations[{index}]"
        if not isinstance(told, dict):
            ledger.dropped("annotation", place, "it is not an object")
            continue
        place = f"{place} (id {shorten(told.get('id'))}, image {shorten(told.get('image_id'))})"
        image_id = image_ids.get(_or_none(told.get("image_id")))
        category_id = category_ids.get(_or_none(told.get("category_id")))
        if image_id is None or image_id not in frames:
            ledger.dropped("annotation", place, "its picture is not in the copy")
            continue
        if category_id is None:
            ledger.dropped("annotation", place, "its category is not in the file")
            continue
        linked = {**told, "image_id": image_id, "category_id": category_id}
        mended = mend_annotation(linked, frames[image_id], choices)
        if mended.annotation is None:
            ledger.dropped("annotation", place, mended.notes[0])
            continue
        annotation_id = ids.take(told)
        if annotation_id is None:
            ledger.dropped("annotation", place, "the same annotation is there already")
            continue
        for how in mended.notes:
            ledger.changed("annotation", place, how)
        if annotation_id != told.get("id"):
            ledger.changed("annotation", place, "gave it an id of its own")
        yield {**mended.annotation, "id": annotation_id}


def _or_none(value: Any) -> int:
    """Return a whole number as a key; one that is none leads to nothing."""
    number = whole_number(value)
    return 2**63 if number is None else number


class _Ids:
    """Gives each annotation an id of its own."""

    def __init__(self, annotations: Sequence[Any]) -> None:
        numbers = (
            whole_number(annotation.get("id"))
            for annotation in annotations
            if isinstance(annotation, dict)
        )
        self._told = frozenset(number for number in numbers if number is not None)
        self._next = 1
        self._taken: dict[int, Mapping[str, Any]] = {}

    def take(self, annotation: Mapping[str, Any]) -> int | None:
        """Return the annotation's id, or a free one; None for one that was there before."""
        number = whole_number(annotation.get("id"))
        if number is not None and number in self._taken:
            if self._taken[number] == annotation:
                return None
            number = None
        if number is None:
            while self._next in self._told or self._next in self._taken:
                self._next += 1
            number = self._next
        self._taken[number] = annotation
        return number


def _new_split(
    source: _Source,
    images: Sequence[CleanImage],
    annotations: list[dict[str, Any]],
    categories: Sequence[Category],
) -> NewSplit:
    document = {
        **source.document.rest,
        "images": [image.fields for image in images],
        "annotations": annotations,
        "categories": list(categories),
    }
    pictures = tuple(
        NewPicture(source.folder / image.file, image.name, image.mending) for image in images
    )
    return NewSplit(source.split.name, document, pictures)


def _nothing_left(cleaned: CleanSet) -> str:
    """Return why there is no copy, and what the user can say of the set to get one."""
    reasons = " ".join(line + "." for ledger in cleaned.ledgers for line in ledger.lines())
    return (
        f"--fix {cleaned.out}: nothing would be left to learn from. {reasons} Where objects have "
        "boxes but no masks: --boxes-as-masks; where all are marked as crowds: --crowds-as-objects"
    )
