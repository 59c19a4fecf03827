"""Looks a price up: among those that the user has fetched, and those that come with this package.

`shipped.json` has what could be cited with its day and its source, and nothing else. A price that
is in no list is unknown: it is never guessed from another region, type or service.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from training.prices.cache import cached_file, read_cached
from training.prices.price_list import PriceList, is_region, read_price_list

SHIPPED = Path(__file__).with_name("shipped.json")


@dataclass(frozen=True)
class Price:
    """What an hour of one instance costs."""

    usd_per_hour: float
    of: PriceList


@dataclass(frozen=True)
class Unknown:
    """A price that no list gives."""

    why: str
    """With what to do."""


def find_price(service: str, region: str, instance_type: str, *, cache: Path) -> Price | Unknown:
    """Return what an instance type costs by the newest list that tells.

    Args:
        service: Such as `SAGEMAKER_TRAINING`.
        region: Such as `eu-west-1`.
        instance_type: As the service calls it.
        cache: Where fetched prices are (`training.prices.cache.price_cache`).
    """
    if not is_region(region):
        return Unknown(f"{region!r} is no region's name")
    fetched, trouble = _fetched(cached_file(cache, service, region))
    shipped = [each for each in _shipped() if (each.service, each.region) == (service, region)]
    # Of two lists of one day, the fetched one is AWS's whole list.
    lists = sorted([*fetched, *shipped], key=lambda each: each.as_of, reverse=True)
    fetch = f"{refresh_command(region)} asks AWS"
    for each in lists:
        if instance_type in each.usd_per_hour:
            return Price(each.usd_per_hour[instance_type], each)
        if each.complete:
            return Unknown(
                f"AWS's list of {each.as_of} for {region} has no price of {instance_type}; "
                f"{fetch} for today's"
            )
    return Unknown(f"{trouble}no price of {instance_type} in {region} is known here; {fetch}")


def refresh_command(region: str) -> str:
    """Return what fetches a region's prices of today."""
    return f"`python -m training.prices refresh --region {region}`"


def _fetched(file: Path) -> tuple[list[PriceList], str]:
    """Return the list that was fetched, if there is one, and in words what is wrong with it."""
    try:
        found = read_cached(file)
    except ValueError:
        return [], f"{file} is damaged; "
    return ([found], "") if found else ([], "")


@lru_cache
def _shipped() -> tuple[PriceList, ...]:
    return tuple(read_price_list(each) for each in json.loads(SHIPPED.read_bytes())["price_lists"])
