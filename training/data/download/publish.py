"""Bring verified files to their place, and record them in the manifest."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

from training.data.download.disk import write_aside
from training.data.download.there import read_manifest
from training.data.manifest import MANIFEST, Entry, Manifest
from training.data.side import PARTIAL
from training.errors import UsageError


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
    final names. One call for all of them, since a wait for each of 118,287 would take minutes.
    """
    _sync_file_system(root)
    for parent in {(root / entry.path).parent for _, entry in staged}:
        parent.mkdir(parents=True, exist_ok=True)
    for path, entry in staged:
        if path.exists():
            path.replace(root / entry.path)
    for parent in {(root / entry.path).parent for _, entry in staged}:
        _sync_folder(parent)


def record(root: Path, entries: Sequence[Entry]) -> None:
    """Add files to the manifest, which says from then on that they are complete."""
    before = read_manifest(root).by_path()
    manifest = Manifest.of((before | {entry.path: entry for entry in entries}).values())
    write_aside(root / MANIFEST, manifest.to_bytes(), root / PARTIAL / MANIFEST)


def _sync_file_system(root: Path) -> None:
    """Have all of one file system written to disk; the whole machine's where it cannot be told."""
    file = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Not in the os module; os.sync would also wait for every other disk and network mount.
        if ctypes.CDLL(None, use_errno=True).syncfs(file) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), str(root))
    except AttributeError:
        os.sync()
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
