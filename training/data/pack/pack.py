"""Pack the pictures of a set's splits into shards."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from training.data.download.space import free_at
from training.data.pack.crew import write_shards
from training.data.pack.index import INDEX, MEMBER, ShardIndex, is_packed, write_index
from training.data.pack.plan import Plan, make_plan
from training.data.pack.shard import Written
from training.data.pack.target import Kind, Target
from training.data.pack.whole_file import whole_file
from training.data.pack.work import open_work, remove_work
from training.data.progress import SILENT, ShowProgress
from training.data.splits import Split
from training.errors import JobFailed, PreflightError, TrainingError, UsageError

_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOENT})


@dataclass(frozen=True)
class Packed:
    """What became of one split."""

    split: str
    folder: Path
    pictures: int
    shards: int
    size: int
    """Bytes of all shards."""
    written: int
    """Shards that this run wrote; others were there."""

    def to_json(self) -> dict[str, Any]:
        return {
            "split": self.split,
            "folder": str(self.folder),
            "pictures": self.pictures,
            "shards": self.shards,
            "bytes": self.size,
            "written_shards": self.written,
        }


def pack(
    splits: Sequence[Split],
    out: Path,
    *,
    kind: Kind,
    shard_mib: int,
    workers: int,
    show_progress: ShowProgress | None = None,
) -> list[Packed]:
    """Pack splits, one after the other; a run that was ended goes on where it was.

    Args:
        splits: Of the source.
        out: The new set's folder; the source's own is allowed.
        kind: Of the shards.
        shard_mib: A shard has pictures of about so many MiB.
        workers: Shards that are written at a time.
        show_progress: Makes the display of the work.

    Raises:
        PreflightError: The set has faults that training would refuse, or there is too little space.
        UsageError: The place holds something else, another run packs there, or it cannot be
            written to.
        JobFailed: The source changed, or the disk is full.
    """
    show = show_progress or (lambda _name, _total: nullcontext(SILENT))
    packed = []
    for split in splits:
        plan = make_plan(split, kind=kind, shard_mib=shard_mib)
        target = Target(out, split.name, kind)
        try:
            _require_room(target, plan)
            _copy_annotations(target, plan)
            packed.append(_pack_split(target, plan, workers, show))
        except OSError as error:
            raise _explain(error, target) from error
    return packed


def _explain(error: OSError, target: Target) -> TrainingError:
    where = error.filename or target.folder
    if error.errno in _REFUSED:
        return UsageError(f"{where}: {error.strerror}; name a folder that can be written to")
    return JobFailed(
        f"{where}: {error.strerror or error}. What is written stays: make room or put right what "
        "is wrong, and run this again"
    )


def _pack_split(target: Target, plan: Plan, workers: int, show: ShowProgress) -> Packed:
    if is_packed(target.index):
        return _there_already(target, plan)
    names = target.names(len(plan.shards))
    members = dict(zip(names, plan.shards, strict=True))
    with open_work(target.folder, plan.split.name, names, plan.state) as work:
        done = {name: found for name in names if (found := work.done(name))}
        jobs = [(target.folder / name, members[name]) for name in names if name not in done]
        with show(plan.split.name, plan.pictures) as progress:
            progress.advance(sum(len(members[name]) for name in done))
            for written in write_shards(target.kind, plan, jobs, workers):
                work.note(written)
                done[written.file.name] = written
                progress.advance(len(written.places))
        _write_index(target, plan, [done[name] for name in names])
        remove_work(target.folder, plan.split.name)
    return _describe(ShardIndex.open(target.index), target, len(jobs))


def _there_already(target: Target, plan: Plan) -> Packed:
    index = ShardIndex.open(target.index)
    again = "To pack again: remove them, or name another folder"
    if index.identity != plan.identity:
        raise UsageError(
            f"{target.index}: holds shards of {plan.split.name} that were packed from another "
            f"state of the set, or with other options. {again}"
        )
    if plan.newest_ns > (target.index / INDEX).stat().st_mtime_ns:
        raise UsageError(
            f"{target.index}: holds shards of {plan.split.name}, and the set was written to since. "
            f"To see whether a byte differs: --verify. {again}"
        )
    if damaged := index.missing_shards(target.folder):
        raise UsageError(
            f"{damaged[0]}: is missing, or of another size than the index says. {again}"
        )
    # A run that was killed between the index and its end left them.
    remove_work(target.folder, plan.split.name)
    return _describe(index, target, 0)


def _describe(index: ShardIndex, target: Target, written: int) -> Packed:
    return Packed(
        split=target.split,
        folder=target.folder,
        pictures=len(index.members),
        shards=len(index.shards),
        size=sum(shard.size for shard in index.shards),
        written=written,
    )


def _write_index(target: Target, plan: Plan, written: Sequence[Written]) -> None:
    target.index.mkdir(parents=True, exist_ok=True)
    members = np.array(
        [
            (image_id, number, offset, size)
            for number, shard in enumerate(written)
            for image_id, offset, size in shard.places
        ],
        MEMBER,
    )
    about = {
        "format": str(target.kind),
        "split": plan.split.name,
        "identity": plan.identity,
        "annotations_sha256": plan.annotations_sha256,
    }
    write_index(target.index, [shard.file for shard in written], members, about)


def _require_room(target: Target, plan: Plan) -> None:
    if is_packed(target.index):
        return
    there = sum(path.stat().st_size for path in target.folder.glob(f"{plan.split.name}-*"))
    free = free_at(target.folder).bytes
    if free + there < plan.size:
        raise PreflightError(
            f"{target.folder}: {free:,} bytes are free, and the pictures of {plan.split.name} have "
            f"{plan.size:,}. Make room, or name another disk; nothing was written"
        )


def _copy_annotations(target: Target, plan: Plan) -> None:
    """Put the annotation file where training looks for it, unless it is there."""
    path = target.annotations
    if path.exists() and path.samefile(plan.split.annotations):
        return
    content = plan.split.annotations.read_bytes()
    if hashlib.sha256(content).hexdigest() != plan.annotations_sha256:
        raise JobFailed(f"{plan.split.annotations}: changed while it was packed. Run again")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(content)
    elif path.read_bytes() != content:
        raise UsageError(
            f"{path}: is another annotation file than {plan.split.annotations}. Nothing is "
            "overwritten: name another folder, or remove it"
        )
