"""The manifest: what a copy holds. It is written last, so where it is, the copy was complete."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from training.data.paths import problem_of_path
from training.errors import UsageError

MANIFEST = "manifest.json"
"""Beside the data, at the top; no data file may have this name."""

_TAKEN = f"The name {MANIFEST} at the top of a data set is taken by staging: rename or remove it"


def _require_path(path: str) -> str:
    problem = problem_of_path(path)
    if problem:
        raise ValueError(f"{path!r} {problem}")
    return path


class Entry(BaseModel):
    """One file of a copy."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    path: Annotated[str, AfterValidator(_require_path)]
    size: int = Field(ge=0)
    """Bytes."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    etag: str | None = None
    """Of the object in S3; None where the copy has none there."""


class Manifest(BaseModel):
    """All files of a copy, by path."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal["mask-rcnn-data"] = "mask-rcnn-data"
    version: Literal[1] = 1
    files: tuple[Entry, ...]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Manifest:
        return cls(files=tuple(sorted(entries, key=lambda entry: entry.path)))

    def by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.files}

    def to_bytes(self) -> bytes:
        """Return JSON, one file a line, the same bytes for the same files."""
        lines = ",\n".join(entry.model_dump_json() for entry in self.files)
        head = f'{{"format":"{self.format}","version":{self.version},"files":['
        return f"{head}\n{lines}\n]}}\n".encode()


def parse_manifest(data: bytes, source: str) -> Manifest:
    """Read a manifest.

    Args:
        data: The file's bytes.
        source: Where they come from, for the message.

    Raises:
        UsageError: They are not a manifest.
    """
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(
            f"{source}: not a manifest of this program ({place}: {first['msg']}). {_TAKEN}"
        ) from error


def manifest_in(folder: Path) -> Manifest | None:
    """Read the manifest of a folder; None where there is none.

    Raises:
        UsageError: What has its name is none.
        OSError: It cannot be read.
    """
    path = folder / MANIFEST
    # To read a pipe would wait for whoever writes to it.
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: no file. {_TAKEN}")
    try:
        return parse_manifest(path.read_bytes(), str(path))
    except FileNotFoundError:
        return None
