"""Choose pictures of a set, and write them as a set of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from training.data.annotation import problems_of_annotation, shorten
from training.data.aside import folder_aside
from training.data.census import Size, area_of, size_of
from training.data.document import Document, NotCoco, read_document
from training.data.entries import Images, is_category, judge_categories, judge_images
from training.data.loose_pictures import loose_pictures, require_outside
from training.data.new_set import NewPicture, NewSplit, write_json, write_split
from training.data.paths import problem_of_path
from training.data.progress import ShowProgress
from training.data.splits import Split
from training.data.tally import Tally
from training.errors import UsageError

RECORD = "subset.json"
"""In the subset's folder: how it was chosen."""

Annotation = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to choose.

    Attributes:
        images: So many pictures of each split, or all that fit where there are fewer.
        classes: Names or ids of categories: pictures with an object of one of them, and the
            annotations of these categories only; all if empty.
        areas: Pictures with an object of one of these sizes (and classes); all their annotations
            stay. Any if empty.
        include: Names of pictures that are chosen in any case.
        seed: Of the choice among more pictures than `images`.
        renumber: Give the categories the ids 1, 2, 3, …; otherwise they keep theirs.
    """

    images: int | None = None
    classes: tuple[str, ...] = ()
    areas: tuple[Size, ...] = ()
    include: frozenset[str] = frozenset()
    seed: int = 1
    renumber: bool = False

    def __post_init__(self) -> None:
        if self.images is not None and self.images < 1:
            raise UsageError(f"--images {self.images}: must be 1 or more")
        if self.images is None and not (self.classes or self.areas or self.include):
            raise UsageError("say which pictures: --images, --classes, --area or --include")

    def record(self) -> dict[str, Any]:
        return {
            "images": self.images,
            "classes": list(self.classes),
            "areas": list(self.areas),
            "include": sorted(self.include),
            "seed": self.seed,
            "renumber": self.renumber,
        }


@dataclass(frozen=True)
class SubsetSplit:
    """What was chosen of a split.

    Attributes:
        name: The split's.
        images: Pictures chosen.
        annotations: Their annotations.
        source_images: Pictures that there were.
        unusable: Annotations of chosen pictures that training cannot use, left out.
    """

    name: str
    images: int
    annotations: int
    source_images: int
    unusable: int


@dataclass(frozen=True)
class Subset:
    """The new set."""

    out: Path
    splits: tuple[SubsetSplit, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.out),
            "splits": [
                {
                    "split": one.name,
                    "images": one.images,
                    "annotations": one.annotations,
                    "source_images": one.source_images,
                    "unusable_annotations": one.unusable,
                }
                for one in self.splits
            ],
        }

    def lines(self) -> Iterator[str]:
        for one in self.splits:
            left_out = f"; {one.unusable:,} unusable annotations left out" if one.unusable else ""
            yield (
                f"{self.out}: {one.name}: {one.images:,} of {one.source_images:,} pictures, "
                f"{one.annotations:,} annotations{left_out}"
            )


@dataclass(frozen=True)
class _Source:
    """A split's sound entries."""

    split: Split
    document: Document
    folder: Path
    there: frozenset[str]
    """Files below the folder."""
    images: Images
    categories: Mapping[int, str]
    by_image: Mapping[int, Sequence[Annotation]]
    unusable: Mapping[int, int]
    """Image id to the number of its annotations that training cannot use."""


def write_subset(
    splits: Sequence[Split],
    out: Path,
    wanted: Wanted,
    *,
    hard_link: bool = False,
    show_progress: ShowProgress | None = None,
) -> Subset:
    """Write the chosen pictures, aside first, then renamed into place.

    The choice depends on what is wanted and on the pictures' names alone: a smaller one of the
    same seed is part of a larger one, also where it is made from that.

    Raises:
        UsageError: The set cannot be read, lacks what is wanted, or `out` holds something.
        JobFailed: The disk is full.
    """
    sources = [_read(split, out) for split in splits]
    class_ids = [_class_ids(source, wanted.classes) for source in sources]
    _require_classes(sources, wanted.classes)
    _require_included(sources, wanted.include)
    chosen = [_choose(source, ids, wanted) for source, ids in zip(sources, class_ids, strict=True)]
    if not any(chosen):
        raise UsageError(f"no picture of {sources[0].document.path} has what is wanted")
    with folder_aside(out, "OUT") as folder:
        done = []
        for source, ids, image_ids in zip(sources, class_ids, chosen, strict=True):
            if not image_ids:
                continue
            new = _new_split(source, ids, image_ids, wanted.renumber)
            write_split(folder, new, hard_link=hard_link, show_progress=show_progress)
            done.append(_count(source, new, image_ids))
        write_json(folder / RECORD, wanted.record())
    return Subset(out, tuple(done))


def _read(split: Split, out: Path) -> _Source:
    try:
        document = read_document(split.annotations)
    except NotCoco as error:
        raise UsageError(f"{split.annotations}: {error}") from error
    tally = Tally(str(split.annotations), skip_bad_annotations=True)
    images = judge_images(document.images, tally)
    categories = judge_categories(document.categories, tally)
    for finding in tally.findings():
        if finding.severity == "error":
            raise UsageError(
                f"{split.annotations}: {finding.message}. Mend the set first: "
                "python -m training.data check --fix"
            )
    folder, there = loose_pictures(split, list(images.pictures))
    require_outside(out, folder, "OUT")
    by_image: dict[int, list[Annotation]] = {image_id: [] for image_id in images.frames}
    unusable: dict[int, int] = {}
    for annotation in document.annotations:
        if not isinstance(annotation, dict):
            continue
        problems = problems_of_annotation(annotation, images.frames, categories)
        image_id = annotation.get("image_id")
        if not any(rule.keeps_out for rule, _ in problems):
            by_image[annotation["image_id"]].append(annotation)
        elif type(image_id) is int and image_id in images.frames:
            unusable[image_id] = unusable.get(image_id, 0) + 1
    return _Source(split, document, folder, there, images, categories, by_image, unusable)


def _class_ids(source: _Source, classes: Sequence[str]) -> frozenset[int]:
    """Return the ids of the wanted categories, all where none is named."""
    if not classes:
        return frozenset(source.categories)
    wanted = set(classes)
    return frozenset(
        category_id
        for category_id, name in source.categories.items()
        if name in wanted or str(category_id) in wanted
    )


def _require_classes(sources: Sequence[_Source], classes: Sequence[str]) -> None:
    known = {
        text
        for source in sources
        for category_id, name in source.categories.items()
        for text in (name, str(category_id))
    }
    unknown = [name for name in classes if name not in known]
    if unknown:
        names = sorted({name for source in sources for name in source.categories.values()})
        shown = ", ".join(shorten(name) for name in names[:20]) + (", …" if len(names) > 20 else "")
        raise UsageError(f"--classes: no category {', '.join(unknown)}; there are {shown}")


def _require_included(sources: Sequence[_Source], include: frozenset[str]) -> None:
    missing = sorted(include.difference(*(source.images.pictures for source in sources)))
    if missing:
        shown = ", ".join(shorten(name) for name in missing[:5])
        raise UsageError(
            f"--include: {len(missing):,} of {len(include):,} names are no file_name of the set, "
            f"the first: {shown}"
        )


def _choose(source: _Source, class_ids: frozenset[int], wanted: Wanted) -> frozenset[int]:
    """Return the ids of the chosen images of a split."""
    names = source.images.names
    certain = {image_id for image_id, name in names.items() if name in wanted.include}
    if wanted.include and wanted.images is None and not (wanted.classes or wanted.areas):
        return frozenset(certain)
    fitting = [
        image_id
        for image_id in names
        if image_id not in certain and _fits(source.by_image[image_id], class_ids, wanted)
    ]
    fitting.sort(key=lambda image_id: _draw(wanted.seed, names[image_id]))
    room = len(fitting) if wanted.images is None else max(0, wanted.images - len(certain))
    return frozenset([*certain, *fitting[:room]])


def _fits(annotations: Sequence[Annotation], class_ids: frozenset[int], wanted: Wanted) -> bool:
    """Return whether an image has an object that is wanted; any will do where none is named."""
    if not (wanted.classes or wanted.areas):
        return True
    return any(
        annotation["category_id"] in class_ids
        and not annotation.get("iscrowd")
        and (not wanted.areas or size_of(area_of(annotation)) in wanted.areas)
        for annotation in annotations
    )


def _draw(seed: int, name: str) -> tuple[bytes, str]:
    """Return a place in an order that is random, and the same wherever the picture is."""
    return sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest(), name


def _new_split(
    source: _Source, class_ids: frozenset[int], image_ids: frozenset[int], renumber: bool
) -> NewSplit:
    document = source.document
    ids = {
        category_id: place if renumber else category_id
        for place, category_id in enumerate(sorted(class_ids), start=1)
    }
    images = [image for image in document.images if image["id"] in image_ids]
    new_document = {
        **document.rest,
        "images": images,
        "annotations": [
            {**annotation, "category_id": ids[annotation["category_id"]]}
            for image in images
            for annotation in source.by_image[image["id"]]
            if annotation["category_id"] in ids
        ],
        "categories": [
            {**category, "id": ids[category["id"]]}
            for category in document.categories
            if is_category(category) and category["id"] in ids
        ],
    }
    _require_files(source, images)
    # Two entries may name one file.
    names = dict.fromkeys(image["file_name"] for image in images)
    pictures = tuple(NewPicture(source.folder / name, name) for name in names)
    return NewSplit(source.split.name, new_document, pictures)


def _require_files(source: _Source, images: Sequence[Mapping[str, Any]]) -> None:
    """Refuse names that lead out of the folder, and files that are not there."""
    names = [image["file_name"] for image in images]
    missing = [name for name in names if problem_of_path(name) or name not in source.there]
    if missing:
        raise UsageError(
            f"{source.folder}: {len(missing):,} of {len(names):,} chosen pictures are not there, "
            f"the first: {shorten(missing[0])}. Mend the set first: "
            "python -m training.data check --fix"
        )


def _count(source: _Source, new: NewSplit, image_ids: frozenset[int]) -> SubsetSplit:
    return SubsetSplit(
        name=source.split.name,
        images=len(image_ids),
        annotations=len(new.document["annotations"]),
        source_images=len(source.images.frames),
        unusable=sum(source.unusable.get(image_id, 0) for image_id in image_ids),
    )
