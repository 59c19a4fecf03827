"""Find the splits of a COCO-format set, in the layouts in which such sets come.

Training reads one layout, `training.layout.TrainChannel`. Programs for annotating write others:
Roboflow puts `_annotations.coco.json` beside the pictures of each split; CVAT writes
`annotations/instances_default.json` and a folder `images`; Label Studio `result.json` and `images`;
FiftyOne `labels.json` and `data`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from training.errors import UsageError
from training.layout import TrainChannel

ROBOFLOW = "_annotations.coco.json"
_BEFORE, _AFTER = "instances_", ".json"
_NO_INSTANCES = ("captions_", "person_keypoints_", "stuff_", "panoptic_", "image_info_", "manifest")
_NO_NAMES = ("annotations", "_annotations.coco", "labels", "result", "coco", "pretrained-models")
_NAMES_TRIED = 50


@dataclass(frozen=True)
class Split:
    """One annotation file, and where its pictures may be."""

    name: str
    annotations: Path
    folders: tuple[Path, ...]
    """The first that has the pictures is theirs."""
    is_channel: bool
    """It lies as training reads it."""

    def images(self, names: Sequence[str]) -> Path:
        """Return the folder that has the most of some file names; the first where none has any."""
        some = names[:: max(1, len(names) // _NAMES_TRIED)]
        folders = [folder for folder in self.folders if folder.is_dir()] or self.folders[:1]
        return max(folders, key=lambda folder: _count_there(folder, some))


def channel_split(channel: TrainChannel, name: str) -> Split:
    """Return a split in the layout that training reads, there or not."""
    return Split(name, channel.annotations(name), (channel.images(name),), is_channel=True)


def find_splits(
    root: Path, names: Sequence[str] | None = None, images: Path | None = None
) -> tuple[Split, ...]:
    """Return the splits of a set.

    Args:
        root: Its folder, or one annotation file.
        names: Those that are wanted; all that are there if absent.
        images: The folder of the pictures, where it is not found by itself.

    Raises:
        UsageError: There is none, or not the wanted ones.
    """
    found = {split.name: split for split in _with_own_names(list(_find(root)))}
    if not found:
        raise UsageError(
            f"{root}: holds no data set in COCO's format. Expected annotations/instances_<split>"
            f".json with a folder <split>, {ROBOFLOW} beside the pictures, or an annotation file "
            "named here itself"
        )
    missing = [name for name in names or () if name not in found]
    if missing:
        raise UsageError(
            f"{root}: has no split {', '.join(missing)}; it has {', '.join(sorted(found))}"
        )
    chosen = [found[name] for name in dict.fromkeys(names or sorted(found))]
    if images is None:
        return tuple(chosen)
    return tuple(
        Split(split.name, split.annotations, (images,), is_channel=False) for split in chosen
    )


def _with_own_names(splits: list[Split]) -> Iterator[Split]:
    """Call a file of a usual name the split train, where it is the only one so called."""
    names = Counter(_name_of(split.name) for split in splits)
    for split in splits:
        name = _name_of(split.name)
        yield split if split.is_channel or names[name] > 1 else replace(split, name=name)


def _name_of(text: str) -> str:
    """Return what a split may be called: its folder and data_train have that name."""
    name = re.sub(r"[^\w.-]+", "-", text).strip("-.")
    return "train" if not name or name in _NO_NAMES else name


def _find(root: Path) -> Iterator[Split]:
    if root.is_file():
        yield _from_file(root)
        return
    if not root.is_dir():
        raise UsageError(f"{root}: there is no such folder or annotation file")
    # The later ones are looked for only where the former are not there.
    for layout in (_in_channel, _of_roboflow, _of_others):
        splits = list(layout(root))
        if splits:
            yield from splits
            return


def _in_channel(root: Path) -> Iterator[Split]:
    channel = TrainChannel(root)
    for path in sorted((root / "annotations").glob(f"{_BEFORE}*{_AFTER}")):
        name = path.name.removeprefix(_BEFORE).removesuffix(_AFTER)
        if not name or not path.is_file():
            continue
        if channel.images(name).is_dir() or channel.shards(name).is_dir():
            yield channel_split(channel, name)
        else:
            yield Split(name, path, _guesses(root, name), is_channel=False)


def _of_roboflow(root: Path) -> Iterator[Split]:
    for path in (root / ROBOFLOW, *sorted(root.glob(f"*/{ROBOFLOW}"))):
        if path.is_file():
            name = path.parent.resolve().name
            yield Split(name, path, (path.parent,), is_channel=False)


def _of_others(root: Path) -> Iterator[Split]:
    for path in sorted([*root.glob("*.json"), *root.glob("annotations/*.json")]):
        if path.is_file() and not path.name.startswith((".", *_NO_INSTANCES)):
            yield _from_file(path)


def _from_file(path: Path) -> Split:
    path = path.resolve()
    if path.name == ROBOFLOW:
        return Split(path.parent.name, path, (path.parent,), is_channel=False)
    name = path.stem.removeprefix(_BEFORE)
    root = path.parent.parent if path.parent.name == "annotations" else path.parent
    channel = TrainChannel(root)
    if channel.annotations(name) == path and channel.images(name).is_dir():
        return channel_split(channel, name)
    return Split(name, path, _guesses(root, name), is_channel=False)


def _guesses(root: Path, name: str) -> tuple[Path, ...]:
    return (
        root / name,
        root / "images" / name,
        root / "images",
        root / "data",
        root,
        root / "annotations",
    )


def _count_there(folder: Path, names: Sequence[str]) -> int:
    return sum(_is_there(folder / name) for name in names)


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        # A name that is too long, or has a null character.
        return False
