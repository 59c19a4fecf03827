"""Bring verified files to their place, and record them in the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from training.data.download.there import read_manifest
from training.data.file_system import sync_file_system
from training.data.manifest import MANIFEST, Entry, Manifest
from training.data.side import PARTIAL
from training.errors import UsageError
from training.maskrcnn.files import sync_folder, write_atomically


def require_places(root: Path, folders: Sequence[str]) -> None:
    """Refuse, before anything is downloaded, a place that the files cannot be renamed to.

    Raises:
        UsageError: Something else is there.
    """
    for place in (root, *(root / folder for folder in folders)):
        if place.exists() and not place.is_dir():
            raise UsageError(f"{place}: a file is where a folder must be. Move it away")
        if place != root and not place.resolve().is_relative_to(root.resolve()):
            raise UsageError(f"{place}: a link leads out of {root}. Remove the link")


def publish(root: Path, staged: Sequence[tuple[Path, Entry]]) -> None:
    """Rename files from where they wait to their final names; those that are there stay.

    Everything that waits is on disk first: else a crash of the host could leave empty files under
    final names.
    """
    sync_file_system(root)
    for parent in {(root / entry.path).parent for _, entry in staged}:
        parent.mkdir(parents=True, exist_ok=True)
    for path, entry in staged:
        if path.exists():
            path.replace(root / entry.path)
    for parent in {(root / entry.path).parent for _, entry in staged}:
        sync_folder(parent)


def record(root: Path, entries: Sequence[Entry]) -> None:
    """Add files to the manifest, which says from then on that they are complete."""
    before = read_manifest(root).by_path()
    manifest = Manifest.of((before | {entry.path: entry for entry in entries}).values())
    write_atomically(root / MANIFEST, manifest.to_bytes(), aside=root / PARTIAL / MANIFEST)
