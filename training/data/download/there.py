"""What of an item is already in the data set, as its manifest tells."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from training.data.digest import CHUNK_BYTES
from training.data.download.catalogue import Item
from training.data.manifest import Entry, Manifest, manifest_in
from training.data.progress import Progress
from training.data.threads import thread_pool


def read_manifest(root: Path) -> Manifest:
    """Return a data set's manifest; an empty one where it has none.

    Raises:
        UsageError: The file is none.
    """
    return manifest_in(root) or Manifest(files=())


def recorded(manifest: Manifest, item: Item) -> tuple[Entry, ...]:
    """Return what a manifest says of an item that was completed; nothing where it was not.

    An item's files are recorded all at once, when the last one is in its place.
    """
    entries = tuple(entry for entry in manifest.files if _belongs(entry.path, item))
    if item.contents:
        return entries if len(entries) == item.contents.files else ()
    if any(item.sha256 not in {None, entry.sha256} for entry in entries):
        return ()
    return entries


def _belongs(path: str, item: Item) -> bool:
    if item.contents is None:
        return path == item.path
    folder, _, name = path.partition("/")
    return (
        folder == item.contents.folder and "/" not in name and name.endswith(item.contents.suffix)
    )


def missing_by_size(root: Path, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries whose files are not there or have another size."""
    return [entry for entry in entries if not _has_size(root, entry)]


def _has_size(root: Path, entry: Entry) -> bool:
    try:
        return (root / entry.path).stat().st_size == entry.size
    except OSError:
        return False


def wrong_files(
    root: Path, entries: Sequence[Entry], *, jobs: int, progress: Progress
) -> list[Entry]:
    """Return the entries whose files are missing, or are not what the manifest says.

    Every byte is read, by several threads.
    """

    def is_wrong(entry: Entry) -> bool:
        wrong = not _has_size(root, entry) or sha256_of(root / entry.path) != entry.sha256
        progress.advance(entry.size)
        return wrong

    with thread_pool(jobs) as pool:
        flags = list(pool.map(is_wrong, entries))
    return [entry for entry, wrong in zip(entries, flags, strict=True) if wrong]


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
