"""What a download will do, item by item, decided before anything is fetched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from training.data.download.catalogue import Item
from training.data.download.disk import DOWNLOADS
from training.data.download.partial import Leftover, Partial
from training.data.download.space import Room
from training.data.download.there import read_manifest, recorded
from training.data.manifest import Entry
from training.data.side import PARTIAL


class Task(StrEnum):
    """What is to be done for an item."""

    NOTHING = "there"
    REPAIR = "repair"
    """All was there once; some files are missing or damaged now."""
    DOWNLOAD = "download"


@dataclass(frozen=True)
class ItemPlan:
    """What is to be done for one item."""

    item: Item
    task: Task
    entries: tuple[Entry, ...]
    """What the manifest says of it."""
    wrong: tuple[Entry, ...]
    """Of these, what is missing or damaged."""
    goal_bytes: int
    """About what is to be there of the downloaded file."""
    left_bytes: int
    """Of these, what an interrupted download left."""
    room: Room

    @property
    def expected_sha256(self) -> str | None:
        """Of the whole file: what is known, or else what the first download found."""
        if self.item.sha256 or self.item.contents:
            return self.item.sha256
        return next((entry.sha256 for entry in self.entries), None)

    @property
    def fetch_bytes(self) -> int:
        return max(0, self.goal_bytes - self.left_bytes)


FindWrong = Callable[[Item, Sequence[Entry]], Sequence[Entry]]
"""Returns which of an item's files are missing or damaged."""


def plan_items(root: Path, items: Sequence[Item], find_wrong: FindWrong) -> tuple[ItemPlan, ...]:
    manifest = read_manifest(root)
    return tuple(_plan(root, item, recorded(manifest, item), find_wrong) for item in items)


def folder_of(root: Path, item: Item) -> Path:
    """Return where an item lies until it is verified."""
    return root / PARTIAL / DOWNLOADS / item.key


def _plan(root: Path, item: Item, entries: tuple[Entry, ...], find_wrong: FindWrong) -> ItemPlan:
    wrong = tuple(find_wrong(item, entries)) if entries else ()
    if entries and not wrong:
        return ItemPlan(item, Task.NOTHING, entries, (), 0, 0, Room(0))
    left = Partial.left_by_earlier_run(folder_of(root, item))
    if wrong and item.contents:
        size = sum(entry.size for entry in wrong)
        room = Room(size, size, len(wrong))
        return ItemPlan(item, Task.REPAIR, entries, wrong, size, left.noted, room)
    size = item.most_size
    return ItemPlan(item, Task.DOWNLOAD, entries, wrong, size, left.noted, _room(item, left))


def _room(item: Item, left: Leftover) -> Room:
    archive = max(0, item.most_size - left.on_disk)
    if item.contents is None:
        return Room(archive, archive_stays=True)
    return Room(archive, max(0, item.contents.bytes - left.unpacked), item.contents.files)
