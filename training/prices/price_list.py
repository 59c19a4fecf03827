"""A list of prices: what one service costs in one region, by instance type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

SAGEMAKER_TRAINING = "sagemaker-training"
"""The service: instances of SageMaker's training jobs, on demand."""

EC2_ON_DEMAND = "ec2-on-demand"
"""The service: EC2's instances with Linux and shared tenancy, on demand."""

MAX_AGE_DAYS = 90
"""Older prices are shown with a warning."""

MAX_USD_PER_HOUR = 1e6
"""Far more than AWS asks for any instance: what is not below it is damage."""

_REGION = re.compile(r"[a-z]{2,8}(-[a-z]{2,16}){1,3}-\d{1,2}")
"""It becomes a file's name."""


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """What one service costs in one region."""

    service: str
    region: str
    as_of: date
    """The day on which AWS asked these prices."""
    source: str
    complete: bool
    """Whether it is all of AWS's list, so that AWS has no price for what is not in it."""
    usd_per_hour: Mapping[str, float]
    """By instance type as the service calls it, `ml.p4d.24xlarge`; of one instance."""

    def age_days(self, today: date) -> int:
        """Return how long ago AWS asked these prices; 0 where this machine's clock is behind."""
        return max(0, (today - self.as_of).days)

    def to_json(self) -> dict[str, Any]:
        return {
            "service": self.service,
            "region": self.region,
            "as_of": self.as_of.isoformat(),
            "complete": self.complete,
            "source": self.source,
            "usd_per_hour": dict(sorted(self.usd_per_hour.items())),
        }


def read_price_list(value: Any) -> PriceList:
    """Return a list from what `to_json` made of it.

    Raises:
        ValueError: It is something else.
    """
    try:
        prices = {str(name): float(price) for name, price in value["usd_per_hour"].items()}
        found = PriceList(
            service=str(value["service"]),
            region=str(value["region"]),
            as_of=date.fromisoformat(value["as_of"]),
            complete=bool(value["complete"]),
            source=str(value["source"]),
            usd_per_hour=prices,
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"no price list: {error!r}") from error
    wrong = [name for name, price in prices.items() if not is_price(price)]
    if wrong:
        raise ValueError(f"{wrong[0]}: {prices[wrong[0]]} is no price")
    return found


def is_price(usd: float) -> bool:
    """Return whether a number can be what an hour costs: nothing here is free, or a fortune."""
    return 0 < usd < MAX_USD_PER_HOUR


def is_region(name: str) -> bool:
    """Return whether a text has the form of a region's name, such as `eu-west-1`."""
    return _REGION.fullmatch(name) is not None
