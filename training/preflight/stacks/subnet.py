"""A subnet as the settings describe it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NamedSubnet:
    """A subnet that exists already."""

    subnet_id: str
    zone: str
    route_table_id: str | None
    key: str
    """The setting that names it."""
