"""Compares two requests field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ABSENT = "absent"


@dataclass(frozen=True)
class Difference:
    """One field that two requests do not share."""

    field: str
    """As `ResourceConfig.InstanceType`; an item of a list has its number, or its name."""
    ours: Any
    theirs: Any


def differences(ours: Any, theirs: Any, field: str = "") -> Iterator[Difference]:
    """Yield where the requests differ; a structure that only one has is one difference."""
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for name in sorted(ours.keys() | theirs.keys()):
            yield from differences(
                ours.get(name, ABSENT), theirs.get(name, ABSENT), f"{field}.{name}".lstrip(".")
            )
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(one, other, f"{field}[{_name(one, number)}]")
    elif ours != theirs:
        yield Difference(field, ours, theirs)


def fields(value: Any, field: str = "") -> Iterator[str]:
    """Yield the path of every value of a request."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from fields(item, f"{field}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from fields(item, f"{field}[{_name(item, number)}]")
    else:
        yield field


def _name(item: Any, number: int) -> str:
    return str(item.get("Name", number)) if isinstance(item, Mapping) else str(number)
