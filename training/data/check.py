"""Check COCO sets: annotations and pictures, each kind of fault as one finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

from training.data.annotation import Frame, shorten
from training.data.document import Document, NotCoco, paused_garbage_collection, read_document
from training.data.entries import (
    Images,
    groups_of,
    judge_annotations,
    judge_categories,
    judge_images,
)
from training.data.exhibits import choose_exhibits
from training.data.health import Health, SplitHealth
from training.data.picture_store import LooseStore, PictureStore
from training.data.pictures import check_pictures
from training.data.progress import SILENT, ShowProgress
from training.data.rules import CATEGORY_GROUP, IMAGE_EXTRA
from training.data.splits import Split, channel_split
from training.layout import TrainChannel
from training.preflight.finding import Finding

BadAnnotations = Literal["stop", "skip"]

MANY_CROWDS = 0.2
"""Of all annotations; COCO's own train2017 has 0.012."""
_CATEGORIES_SHOWN = 5
_NO_SHARDS = frozenset({"shards-unreadable", "shards-missing"})
"""Findings after which no picture is read."""


def check_dataset(
    channel: TrainChannel, splits: Sequence[str], *, bad_annotations: BadAnnotations = "stop"
) -> Iterator[Finding]:
    """Yield what is wrong with the splits of a data set in the layout that training reads.

    Pictures are opened for their header only: a file that is cut off after it is not found here.

    Args:
        channel: Where the set lies.
        splits: For example train2017 and val2017.
        bad_annotations: What the trainer does with an annotation that it cannot use: `stop` makes
            those errors, `skip` warnings.
    """
    wanted = [channel_split(channel, name) for name in splits]
    health = examine(wanted, bad_annotations=bad_annotations, decode=False)
    yield from health.findings


def examine(
    splits: Sequence[Split],
    *,
    bad_annotations: BadAnnotations = "stop",
    decode: bool = True,
    show_progress: ShowProgress | None = None,
    exhibits: int = 0,
) -> Health:
    """Look at a whole set.

    Args:
        splits: Those to look at.
        bad_annotations: What the trainer does with an annotation that it cannot use.
        decode: Read every picture to its end; otherwise only its header.
        show_progress: Makes the display of the work on a split's pictures.
        exhibits: How many of the worst pictures of a split to keep, to be drawn.
    """
    show = show_progress or (lambda _name, _total: nullcontext(SILENT))
    healths = [_examine_split(split, bad_annotations, decode, show, exhibits) for split in splits]
    _tally_groups(healths)
    _tally_extra_files(healths)
    return Health(tuple(healths), tuple(_compare_categories(healths)))


def _examine_split(
    split: Split,
    bad_annotations: BadAnnotations,
    decode: bool,
    show_progress: ShowProgress,
    exhibits: int,
) -> SplitHealth:
    health = SplitHealth(split, skip_bad_annotations=bad_annotations == "skip")
    if not split.is_channel:
        health.of_file.append(_foreign_layout(split))
    try:
        document = read_document(split.annotations)
    except NotCoco as error:
        # A layout is of no matter where there is no set.
        health.is_coco = False
        health.of_file = [error.finding]
        return health
    with paused_garbage_collection():
        images = _judge_document(document, health)
    channel = TrainChannel(split.annotations.parent.parent)
    if split.is_channel and channel.is_packed(split.name):
        health.folder = channel.shards(split.name)
        _examine_shards(health, images, decode, show_progress)
    elif images.pictures:
        health.folder = split.images(list(images.pictures))
        health.store = LooseStore(health.folder)
        _examine_pictures(health, health.store, images.pictures, decode, show_progress)
    if exhibits:
        health.exhibits = choose_exhibits(health, document, images, exhibits)
    return health


def _judge_document(document: Document, health: SplitHealth) -> Images:
    """Judge all entries, and keep what the comparison of splits and the report need."""
    health.of_file += document.notes
    images = judge_images(document.images, health.tally)
    health.categories = judge_categories(document.categories, health.tally)
    health.census = judge_annotations(
        document.annotations, images, frozenset(health.categories), health.tally
    )
    health.images, health.annotations = len(document.images), len(document.annotations)
    health.names = frozenset(images.pictures)
    health.groups = groups_of(document.categories)
    health.of_content += _judge_amounts(document, health)
    return images


def _judge_amounts(document: Document, health: SplitHealth) -> Iterator[Finding]:
    census = health.census
    if not document.images:
        yield _error("dataset-empty", document.path, "the set is empty: images has no entry")
    elif not census.objects:
        crowds = (
            f". {census.crowds:,} are crowds (iscrowd 1), as CVAT writes painted masks: --fix "
            "--crowds-as-objects makes objects of them"
            if census.crowds
            else ""
        )
        yield _error(
            "dataset-no-objects",
            document.path,
            "there is nothing to learn or to measure: no annotation is usable and not a crowd"
            + crowds,
        )
    elif census.crowds > MANY_CROWDS * (census.objects + census.crowds):
        yield Finding(
            code="annotation-many-crowds",
            severity="warning",
            message=(
                f"{census.crowds:,} of {census.objects + census.crowds:,} annotations are crowds "
                "(iscrowd 1), from which nothing is learnt. CVAT marks painted masks so: --fix "
                "--crowds-as-objects makes objects of them"
            ),
            path=str(document.path),
        )


def _examine_shards(
    health: SplitHealth, images: Images, decode: bool, show_progress: ShowProgress
) -> None:
    """Look at the index; at the pictures themselves only where they are to be decoded."""
    # Brings numpy, which a check of loose files does without.
    from training.data.pack.findings import examine_shards
    from training.data.pack.store import ShardStore

    found = list(examine_shards(health.folder, list(images.names)))
    health.of_folder += found
    if not decode or any(finding.code in _NO_SHARDS for finding in found):
        return
    health.store = store = ShardStore(health.folder, images.names)
    there = {name: images.pictures[name] for name in store.in_order()}
    _examine_pictures(health, store, there, decode, show_progress)


def _examine_pictures(
    health: SplitHealth,
    store: PictureStore,
    pictures: Mapping[str, Frame],
    decode: bool,
    show_progress: ShowProgress,
) -> None:
    folder = health.folder
    health.picture_tally.path = str(folder)
    try:
        with show_progress(health.split.name, len(pictures)) as progress:
            health.counts = check_pictures(
                store, pictures, health.picture_tally, decode=decode, progress=progress
            )
    except (FileNotFoundError, NotADirectoryError):
        health.of_folder.append(
            _error(
                "images-missing",
                folder,
                f"there is no such folder; the annotations name {len(pictures):,} pictures in it",
            )
        )
    except OSError as error:
        health.of_folder.append(
            _error(
                "images-unreadable",
                Path(error.filename or folder),
                f"cannot be read ({error.strerror or error})",
            )
        )


def _foreign_layout(split: Split) -> Finding:
    return _error(
        "layout-foreign",
        split.annotations,
        "training does not find the set so: it reads annotations/instances_<split>.json and the "
        "folder <split>. --fix OUT or python -m training.data subset write it that way",
    )


def _tally_groups(healths: Sequence[SplitHealth]) -> None:
    """Tell of categories that only group others, where no split has an object of them."""
    used = {category_id for health in healths for category_id in health.census.used_ids()}
    for health in healths:
        for category_id, name in health.groups.items():
            if category_id not in used:
                health.tally.add(CATEGORY_GROUP, f"{shorten(name)}, id {category_id}")


def _tally_extra_files(healths: Sequence[SplitHealth]) -> None:
    """Tell of files that no split names: several may share a folder."""
    named: dict[Path, set[str]] = {}
    files = {health.split.annotations.resolve() for health in healths}
    for health in healths:
        named.setdefault(health.folder, set()).update(health.names)
    for health in healths:
        if health.counts is None:
            continue
        for name in sorted(health.counts.extra - named[health.folder]):
            is_hidden = name.rpartition("/")[2].startswith(".")
            if not is_hidden and (health.folder / name).resolve() not in files:
                health.picture_tally.add(IMAGE_EXTRA, shorten(name))
        # Told of once.
        named[health.folder] |= health.counts.extra


def _compare_categories(healths: Sequence[SplitHealth]) -> Iterator[Finding]:
    read = [health for health in healths if health.categories]
    for health in read[1:]:
        different = read[0].categories.items() ^ health.categories.items()
        if different:
            shown = ", ".join(
                f"{category_id} {shorten(name)}"
                for category_id, name in sorted(different)[:_CATEGORIES_SHOWN]
            )
            yield _error(
                "categories-differ",
                health.split.annotations,
                f"splits {read[0].split.name} and {health.split.name} have different categories "
                f"({shown}). All splits of a run share one list: --fix OUT makes one, by name",
            )


def _error(code: str, path: Path, message: str) -> Finding:
    return Finding(code=code, severity="error", message=message, path=str(path))
