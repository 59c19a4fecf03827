"""Subnets of a VPC that exists already, as settings name them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator

from stacks.settings.text import shown

_HEX = r"[0-9a-f]{8}(?:[0-9a-f]{9})?"
"""Ids of AWS: 8 digits until 2018, 17 since."""

VPC_ID = rf"^vpc-{_HEX}$"
SECURITY_GROUP_ID = rf"^sg-{_HEX}$"

ZONE_NAME = re.compile(r"(?P<region>[a-z]{2,4}(-[a-z]+)+-[0-9]+)[a-z]")
"""Of a zone in a region, such as us-west-2a; not its id, and no local or wavelength zone."""

_ZONE_ID = re.compile(r"[a-z]{3,5}[0-9]+-az[0-9]+")
_SMALL_ZONE = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]+-[a-z0-9-]+")


@dataclass(frozen=True)
class ExistingSubnet:
    """One subnet: what AWS calls it, where it is and, if known, its route table."""

    subnet_id: str
    zone: str
    route_table_id: str | None

    def __str__(self) -> str:
        parts = (self.subnet_id, self.zone, self.route_table_id)
        return ":".join(part for part in parts if part)

    @classmethod
    def parse(cls, text: object) -> ExistingSubnet:
        """Read `subnet-id:zone` or `subnet-id:zone:route-table-id`.

        Raises:
            ValueError: It is of another form.
        """
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            raise ValueError("it is no text")
        if text.count(":") not in (1, 2):
            raise ValueError("it is not two or three parts with a colon between them")
        subnet_id, zone, *rest = text.split(":")
        route_table_id = rest[0] if rest else None
        if not re.fullmatch(f"subnet-{_HEX}", subnet_id):
            raise ValueError(f"{shown(subnet_id)} is no id of a subnet")
        for problem in problems_of_zone(zone):
            raise ValueError(problem)
        if route_table_id is not None and not re.fullmatch(f"rtb-{_HEX}", route_table_id):
            raise ValueError(f"{shown(route_table_id)} is no id of a route table")
        return cls(subnet_id, zone, route_table_id)


Subnet = Annotated[ExistingSubnet, BeforeValidator(ExistingSubnet.parse)]


def problems_of_zone(zone: str) -> Iterator[str]:
    """Yield why a text is not the name of a zone of a region."""
    if ZONE_NAME.fullmatch(zone):
        return
    if _ZONE_ID.fullmatch(zone):
        yield f"{shown(zone)} is the id of a zone: give its name, such as us-west-2a"
    elif _SMALL_ZONE.fullmatch(zone):
        yield f"{shown(zone)} is a local zone: give one of the region itself, such as us-west-2a"
    else:
        yield f"{shown(zone)} is no name of a zone"


def problems_of_zones(zones: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with zones that are used together, one a subnet."""
    for zone in zones:
        yield from problems_of_zone(zone)
    if len(set(zones)) != len(zones):
        yield "a zone is there twice, and each subnet is in a zone of its own"
    if len({zone[:-1] for zone in zones}) > 1:
        yield "they are of different regions"
