"""Choose the pictures of a split that show its faults best, to be looked at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.data.annotation import Frame, problems_of_annotation
from training.data.document import Document
from training.data.entries import Images
from training.data.paths import problem_of_path
from training.data.picture_file import quiet_about_large_ones
from training.data.picture_store import LooseStore, PictureStore
from training.data.pictures import faults_of, read_stored
from training.data.rules import IMAGE_FILE_NAME, IMAGE_MISSING, Rule

if TYPE_CHECKING:
    from training.data.health import SplitHealth

MOST_FAULTS = 12
"""Told of one picture."""
MOST_ANNOTATIONS = 100
"""Drawn on one picture."""

_NOT_TO_BE_SEEN = (IMAGE_MISSING, IMAGE_FILE_NAME)
_ORDER = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class Exhibit:
    """A picture with faults.

    Attributes:
        name: Its file_name.
        file: Its file, or its content where that is in a shard; None where it cannot be read.
        told: The size that the annotations give.
        faults: In words.
        sound: Its annotations without fault, as the file has them.
        faulty: Those with one.
    """

    name: str
    file: Path | bytes | None
    told: Frame
    faults: tuple[str, ...]
    sound: tuple[Mapping[str, Any], ...]
    faulty: tuple[Mapping[str, Any], ...]


def choose_exhibits(
    health: SplitHealth, document: Document, images: Images, most: int
) -> tuple[Exhibit, ...]:
    """Return pictures of every kind of fault, errors first, of each kind those with the most."""
    rankings = [
        [name for name, _ in fault.by_picture.most_common(most)]
        for rule, _, fault in sorted(health.faults(), key=lambda one: _ORDER[one[1]])
        if rule not in _NOT_TO_BE_SEEN
    ]
    names = _take_turns(rankings, most)
    there = [name for name in names if name in images.pictures and not problem_of_path(name)]
    store = health.store or LooseStore(health.folder)
    annotations = _annotations_of(document, images, frozenset(there))
    category_ids = frozenset(health.categories)
    with quiet_about_large_ones():
        return tuple(
            _make_exhibit(store, name, images, annotations[name], category_ids) for name in there
        )


def _take_turns(rankings: list[list[str]], most: int) -> list[str]:
    """Return the first of each ranking, then the second of each, without repeats."""
    taken: dict[str, None] = {}
    for place in range(max(map(len, rankings), default=0)):
        for ranking in rankings:
            if place < len(ranking) and len(taken) < most:
                taken.setdefault(ranking[place])
    return list(taken)


def _annotations_of(
    document: Document, images: Images, names: frozenset[str]
) -> Mapping[str, list[tuple[int, Mapping[str, Any]]]]:
    """Return the annotations of some pictures with their place in the file."""
    wanted = {image_id: name for image_id, name in images.names.items() if name in names}
    found: dict[str, list[tuple[int, Mapping[str, Any]]]] = defaultdict(list)
    for index, annotation in enumerate(document.annotations):
        if not isinstance(annotation, dict):
            continue
        image_id = annotation.get("image_id")
        if type(image_id) is int and image_id in wanted:
            found[wanted[image_id]].append((index, annotation))
    return found


def _make_exhibit(
    store: PictureStore,
    name: str,
    images: Images,
    annotations: Iterable[tuple[int, Mapping[str, Any]]],
    category_ids: frozenset[int],
) -> Exhibit:
    told = images.pictures[name]
    picture = read_stored(store, name, decode=True)
    faults = [_sentence(rule, detail.strip()) for rule, detail in faults_of(name, picture, told)]
    sound: list[Mapping[str, Any]] = []
    faulty: list[Mapping[str, Any]] = []
    for index, annotation in annotations:
        problems = problems_of_annotation(annotation, images.frames, category_ids)
        (faulty if problems else sound).append(annotation)
        faults += [f"annotations[{index}] {_sentence(*problem)}" for problem in problems]
    more = len(faults) - MOST_FAULTS
    shown = faults[:MOST_FAULTS] + ([f"and {more:,} more"] if more > 0 else [])
    return Exhibit(
        name,
        _file_of(store, name),
        told,
        tuple(shown),
        tuple(sound[:MOST_ANNOTATIONS]),
        tuple(faulty[:MOST_ANNOTATIONS]),
    )


def _file_of(store: PictureStore, name: str) -> Path | bytes | None:
    try:
        return store.file(name)
    except OSError:
        return None


def _sentence(rule: Rule, detail: str) -> str:
    if detail.startswith("("):
        detail = detail[1:-1]
    return f"{rule.code}: {detail}" if detail else rule.code
