"""The catalogue: what can be downloaded, from where, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from training.data.paths import problem_of_path
from training.errors import UsageError

CATALOGUE = Path(__file__).with_name("catalogue.yaml")
"""What is known to all."""

PRETRAINED = "pretrained-models"
"""Where a file that is no zip of data goes (`TrainChannel.pretrained_models`)."""


def problem_of_address(address: str) -> str | None:
    """Return why an address cannot be downloaded from, or None where it can."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        return f"is no address ({error})"
    if parts.scheme not in {"http", "https"} or not host:
        return "is no address of the web: it must begin with https:// or http://"
    if parts.username or parts.password:
        return "has a name or password in it, which would be written to disk. Take it out"
    return None


def _require_address(address: str) -> str:
    if problem := problem_of_address(address):
        raise ValueError(f"{address!r} {problem}")
    return address


def _require_name(name: str) -> str:
    problem = "has a / in it" if "/" in name else problem_of_path(name)
    if problem:
        raise ValueError(f"{name!r} {problem}")
    return name


Name = Annotated[str, AfterValidator(_require_name)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Contents(_Model):
    """What a zip holds: files of one kind in one folder."""

    folder: Name
    """Where the files lie, in the zip and in the data set."""
    suffix: str = Field(min_length=1)
    files: int = Field(gt=0)
    bytes: int = Field(gt=0)
    """About what they take when they are unpacked, in bytes."""

    @property
    def most_bytes(self) -> int:
        """A zip that unpacks to more is not the one that is meant."""
        return 2 * self.bytes


class Item(_Model):
    """One file to download."""

    key: Name
    name: Name
    size: int | None = Field(default=None, gt=0)
    """Bytes."""
    size_between: tuple[int, int] | None = None
    """Least and most bytes, where only a rounded size was published."""
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    addresses: tuple[Annotated[str, AfterValidator(_require_address)], ...] = Field(min_length=1)
    contents: Contents | None = None
    """Of a zip that is unpacked; a file without goes to `PRETRAINED` as it is."""
    citations: dict[str, str] = {}
    """Field of this item to where it was read."""
    published: str | None = None
    """Whose the checksum is."""

    @model_validator(mode="after")
    def _require_a_size(self) -> Self:
        if (self.size is None) == (self.size_between is None):
            raise ValueError("give either size or size_between")
        return self

    @property
    def most_size(self) -> int:
        """Bytes of the file, or the most that it may have."""
        if self.size is not None:
            return self.size
        assert self.size_between
        return self.size_between[1]

    def has_size(self, size: int) -> bool:
        if self.size is not None:
            return size == self.size
        assert self.size_between
        return self.size_between[0] <= size <= self.size_between[1]

    @property
    def path(self) -> str:
        """Where in the data set it goes: a folder of a zip's files, or a file."""
        return self.contents.folder if self.contents else f"{PRETRAINED}/{self.name}"

    def from_mirrors(self, mirrors: Sequence[str]) -> tuple[str, ...]:
        """Return all addresses in the order in which they are tried: mirrors first."""
        return (*(f"{mirror.rstrip('/')}/{self.name}" for mirror in mirrors), *self.addresses)


class Catalogue(_Model):
    """All that can be named."""

    items: tuple[Item, ...]
    groups: dict[Name, tuple[str, ...]] = {}

    @field_validator("items", mode="before")
    @classmethod
    def _key_items(cls, items: Any) -> Any:
        if not isinstance(items, dict):
            return items
        return [
            {**fields, "key": key} if isinstance(fields, dict) else fields
            for key, fields in items.items()
        ]

    @model_validator(mode="after")
    def _require_known_members(self) -> Self:
        keys = {item.key for item in self.items}
        for group, members in self.groups.items():
            if unknown := sorted(set(members) - keys):
                raise ValueError(f"group {group} has {', '.join(unknown)}, which is no item")
        return self

    @property
    def names(self) -> list[str]:
        return [*self.groups, *(item.key for item in self.items)]

    def select(self, names: Sequence[str]) -> tuple[Item, ...]:
        """Return the items of the given names of items and groups, each once.

        Raises:
            UsageError: A name is unknown.
        """
        wanted: set[str] = set()
        for name in names:
            if name not in self.names:
                raise UsageError(f"--what {name}: unknown. Known are: {', '.join(self.names)}")
            wanted.update(self.groups.get(name, (name,)))
        return tuple(item for item in self.items if item.key in wanted)


def read_catalogue(path: Path = CATALOGUE) -> Catalogue:
    """Read a catalogue.

    Raises:
        UsageError: The file cannot be read or is none.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Catalogue.model_validate(document)
    except OSError as error:
        raise UsageError(f"--catalogue {path}: cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"--catalogue {path}: {place}: {first['msg']}") from error
    except (yaml.YAMLError, ValueError) as error:
        what = " ".join(str(error).split())
        raise UsageError(f"--catalogue {path}: is not YAML ({what})") from error
