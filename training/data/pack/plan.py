"""Which pictures go into which shard: decided once, from the source alone."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.data.annotation import shorten
from training.data.document import Document, NotCoco, read_document
from training.data.entries import Images, judge_categories, judge_images
from training.data.loose_pictures import loose_folder
from training.data.paths import problem_of_path
from training.data.splits import Split
from training.data.tally import Tally
from training.data.threads import thread_pool
from training.errors import PreflightError

VERSION = 1
"""Rises when the same source begins to give other shards."""

MIB = 2**20
STAT_THREADS = 16
"""On a network file system each answer takes a millisecond."""


@dataclass(frozen=True)
class Member:
    """A picture to pack."""

    image_id: int
    name: str
    """Its `file_name`."""
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Plan:
    """What becomes of one split."""

    split: Split
    folder: Path
    """Of the pictures."""
    document: Document
    annotations_sha256: str
    shards: tuple[tuple[Member, ...], ...]
    identity: str
    """Of annotations, names and sizes of pictures, and options: shards of another one differ."""
    state: str
    """The identity, with the times of the files: equal as long as nothing touches the source."""

    @property
    def pictures(self) -> int:
        return sum(map(len, self.shards))

    @property
    def newest_ns(self) -> int:
        """When a file of the source was last written to."""
        written = (member.mtime_ns for shard in self.shards for member in shard)
        return max(self.split.annotations.stat().st_mtime_ns, *written)

    @property
    def size(self) -> int:
        """Bytes of all pictures."""
        return sum(member.size for shard in self.shards for member in shard)


def make_plan(split: Split, *, kind: str, shard_mib: int) -> Plan:
    """Decide what goes into which shard.

    Pictures come in an order that has nothing to do with their names or numbers, and is the same
    each time: neighbours in a set are often alike, and training that reads shard by shard would
    see them together.

    Args:
        split: Of the source.
        kind: Of the shards; it is part of their identity.
        shard_mib: A shard has pictures of about so many MiB.

    Raises:
        UsageError: The pictures lie in shards already.
        PreflightError: The set cannot be read, has faults in its pictures' entries, or lacks files.
    """
    document = _read(split)
    images = _judge(document)
    folder = loose_folder(split, list(images.pictures))
    members = sorted(_find(folder, images), key=lambda member: _place_of(member.image_id))
    annotations_sha256 = _sha256_of(split.annotations)
    identity = _hash([VERSION, kind, shard_mib, split.name, annotations_sha256], members)
    return Plan(
        split,
        folder,
        document,
        annotations_sha256,
        tuple(_cut(members, shard_mib * MIB)),
        identity,
        _hash([identity, *(member.mtime_ns for member in members)], ()),
    )


def _read(split: Split) -> Document:
    try:
        return read_document(split.annotations)
    except NotCoco as error:
        raise PreflightError(f"{split.annotations}: {error}") from error


def _judge(document: Document) -> Images:
    """Return the pictures, where every entry is sound: training would refuse others as well."""
    tally = Tally(str(document.path), skip_bad_annotations=False)
    images = judge_images(document.images, tally)
    judge_categories(document.categories, tally)
    for finding in tally.findings():
        if finding.severity == "error":
            raise PreflightError(
                f"{document.path}: {finding.message}. To write a cleaned copy: "
                "python -m training.data check --fix OUT"
            )
    if not images.names:
        raise PreflightError(f"{document.path}: the set is empty: images has no entry")
    return images


def _find(folder: Path, images: Images) -> list[Member]:
    """Return all pictures with the state of their files."""

    def look(item: tuple[int, str]) -> Member | None:
        image_id, name = item
        if problem_of_path(name):
            return None  # It may lead out of the folder.
        try:
            about = (folder / name).stat()
        except OSError:
            return None
        # To open a pipe would wait for whoever writes to it.
        if not stat.S_ISREG(about.st_mode):
            return None
        return Member(image_id, name, about.st_size, about.st_mtime_ns)

    with thread_pool(STAT_THREADS) as pool:
        found = list(pool.map(look, images.names.items()))
    missing = [
        name for name, member in zip(images.names.values(), found, strict=True) if member is None
    ]
    if missing:
        raise PreflightError(
            f"{folder}: {len(missing):,} of {len(found):,} pictures are missing, the first is "
            f"{shorten(missing[0])}. Copy the set again, or write one without them: "
            "python -m training.data check --fix OUT"
        )
    return [member for member in found if member is not None]


def _place_of(image_id: int) -> bytes:
    return hashlib.blake2b(image_id.to_bytes(8, "big", signed=True), digest_size=8).digest()


def _cut(members: Sequence[Member], shard_bytes: int) -> Iterator[tuple[Member, ...]]:
    shard: list[Member] = []
    size = 0
    for member in members:
        if shard and size + member.size > shard_bytes:
            yield tuple(shard)
            shard, size = [], 0
        shard.append(member)
        size += member.size
    yield tuple(shard)


def _hash(values: Sequence[object], members: Iterable[Member]) -> str:
    digest = hashlib.sha256(json.dumps(values).encode())
    for member in members:
        digest.update(json.dumps([member.image_id, member.name, member.size]).encode())
    return digest.hexdigest()


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
