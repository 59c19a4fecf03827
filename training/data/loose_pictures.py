"""The loose pictures of a split, for whatever copies them: a cleaned copy, a subset, shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from training.data.files_below import files_below
from training.data.splits import Split
from training.errors import UsageError
from training.layout import TrainChannel


def loose_pictures(split: Split, names: Sequence[str]) -> tuple[Path, frozenset[str]]:
    """Return the folder that has a split's pictures, and the paths of all files below it.

    Args:
        split: Of the set.
        names: Of pictures that it should have.

    Raises:
        UsageError: The folder cannot be read, or the pictures lie in shards.
    """
    folder = loose_folder(split, names)
    try:
        return folder, files_below(folder)
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder}: pictures cannot be read ({error.strerror})"
        ) from error


def loose_folder(split: Split, names: Sequence[str]) -> Path:
    """Return the folder that has a split's pictures; it may be missing.

    Raises:
        UsageError: The pictures lie in shards.
    """
    folder = split.images(names)
    channel = TrainChannel(split.annotations.parent.parent)
    if split.is_channel and not folder.is_dir() and channel.is_packed(split.name):
        raise UsageError(
            f"{channel.shards(split.name)}: the pictures of {split.name} lie in shards, and loose "
            "ones are needed. Name the set that they were packed from"
        )
    return folder


def require_outside(out: Path, folder: Path, option: str) -> None:
    """Refuse to write a new set among the pictures of the old one, which would then have more.

    Raises:
        UsageError: `out` is in the folder of pictures, or is it.
    """
    if out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{option} {out}: is among the pictures of the set, in {folder}. Name a folder outside"
        )
