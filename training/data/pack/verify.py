"""Compare shards with the set that they were packed from, byte by byte."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.data.pack.crew import make_format
from training.data.pack.index import ShardIndex
from training.data.pack.plan import Member, Plan
from training.data.pack.shard import ShardFormat
from training.data.pack.target import Target
from training.data.progress import SILENT, Progress


@dataclass(frozen=True)
class Difference:
    """Where a shard is not what it should be."""

    path: Path
    detail: str

    def to_json(self) -> dict[str, str]:
        return {"path": str(self.path), "detail": self.detail}


def verify(target: Target, plan: Plan, progress: Progress = SILENT) -> Iterator[Difference]:
    """Yield every difference between shards and source.

    Each sample is made anew from the source and compared with the shard's bytes, so that a shard
    that passes is what packing would write now; its checksum is compared too. The source's times
    do not matter here.

    Raises:
        JobFailed: There is no index, or it cannot be read.
    """
    index = ShardIndex.open(target.index)
    if _sha256(target.annotations) != plan.annotations_sha256:
        yield Difference(target.annotations, f"differs from {plan.split.annotations}")
    names = target.names(len(plan.shards))
    packed = {shard.name: shard for shard in index.shards}
    for name in packed.keys() - set(names):
        yield Difference(target.folder / name, "is of another plan: --shard-mib may differ")
    form = make_format(target.kind, plan)
    for name, members in zip(names, plan.shards, strict=True):
        path = target.folder / name
        if name not in packed:
            yield Difference(path, "is not in the index")
            continue
        try:
            yield from _compare(path, form, members, index)
        except FileNotFoundError as error:
            yield Difference(Path(error.filename), "is missing")
        progress.advance(len(members))


def _compare(
    path: Path, form: ShardFormat, members: Sequence[Member], index: ShardIndex
) -> Iterator[Difference]:
    """Compare one shard, and what the index says of it."""
    number = next(at for at, shard in enumerate(index.shards) if shard.name == path.name)
    digest = hashlib.sha256()
    at = 0
    with path.open("rb") as file:
        for member in members:
            sample = form.sample(member)
            there = file.read(len(sample.content))
            digest.update(there)
            if there != sample.content:
                yield Difference(path, f"image {member.image_id} ({member.name}) differs")
            if index.find(member.image_id) != (number, at + sample.begin, sample.size):
                yield Difference(index.folder, f"image {member.image_id} is at another place")
            at += len(sample.content)
        rest = file.read()
        digest.update(rest)
    if rest != form.end():
        yield Difference(path, f"has {len(rest):,} bytes at its end instead of {len(form.end()):,}")
    if digest.hexdigest() != index.shards[number].sha256:
        yield Difference(path, "has another SHA-256 than the index says")


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
