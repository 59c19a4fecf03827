"""Shards as WebDataset has them: tar files, for each picture `<id>.jpg` and `<id>.json`."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from training.data.document import Document
from training.data.new_set import without_nan
from training.data.pack.index import member_key
from training.data.pack.plan import Member
from training.data.pack.shard import Sample, read_member

_END = bytes(2 * tarfile.BLOCKSIZE)
"""Two empty blocks; readers want no more of the record that tar fills up with."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


class WebDataset:
    """Writes samples of a picture's own bytes and its entries of the annotation file."""

    def __init__(self, folder: Path, document: Document) -> None:
        self._folder = folder
        self._images = {image["id"]: image for image in document.images}
        self._annotations = _by_image(document.annotations)

    def sample(self, member: Member) -> Sample:
        key = member_key(member.image_id)
        picture = read_member(self._folder, member)
        head = _header(f"{key}.{extension(member.name)}", len(picture))
        entries = {
            "image": self._images[member.image_id],
            "annotations": self._annotations.get(member.image_id, []),
        }
        text = _to_json(entries)
        content = b"".join(
            [head, picture, _padding(picture), _header(f"{key}.json", len(text)), text]
        )
        return Sample(content + _padding(text), len(head), len(picture))

    def end(self) -> bytes:
        return _END


def extension(name: str) -> str:
    """Return how the member's name ends; `jpg` where the file's name tells nothing."""
    suffix = PurePosixPath(name).suffix[1:].lower()
    return suffix if suffix and set(suffix) <= _PLAIN and suffix != "json" else "jpg"


def _by_image(annotations: Sequence[Any]) -> Mapping[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for annotation in annotations:
        if isinstance(annotation, dict) and type(annotation.get("image_id")) is int:
            found.setdefault(annotation["image_id"], []).append(annotation)
    return found


def _to_json(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False).encode()
    except ValueError:
        return json.dumps(without_nan(value), allow_nan=False).encode()


def _header(name: str, size: int) -> bytes:
    """Return a member's header with nothing of this machine, user or time in it."""
    about = tarfile.TarInfo(name)
    about.size = size
    # The old format ends at 8 GiB; the other is what GNU tar and Python both read.
    return about.tobuf(tarfile.GNU_FORMAT)


def _padding(content: bytes) -> bytes:
    return bytes(-len(content) % tarfile.BLOCKSIZE)
