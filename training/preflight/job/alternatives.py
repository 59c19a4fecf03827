"""Instance types that a job could take instead, the cheapest first.

What a picture costs on a type is known only of those that an earlier job was measured on; they come
first. Of the others the price of an hour of one GPU is told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training.algorithms.pairings import PAIRINGS, right_instances
from training.aws.ec2 import Ec2
from training.aws.s3 import S3
from training.errors import AwsError
from training.instances import find_instance
from training.preflight.job.earlier import paces_before
from training.preflight.job.measured import Measured
from training.prices.cache import price_cache
from training.prices.cost import HOUR_S
from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING
from training.prices.table import Unknown, find_price

if TYPE_CHECKING:
    from training.job import Job

MOST_NAMED = 5


@dataclass(frozen=True)
class Alternatives:
    """Types that the job's algorithm runs on, whether or not they are to be had."""

    ec2: Ec2
    names: Sequence[str]
    """As the platform has them: SageMaker's with `ml.`."""
    service: str
    """Whose prices count: a service of `training.prices.price_list`."""
    region: str
    cache: Path
    """Of prices that were fetched."""
    subnet_ids: Sequence[str]
    """The job's: their zones count where no others are given."""
    paces: Callable[[], Sequence[Measured]] = tuple
    """Returns what jobs like this one have measured, the newest first; asked when it is needed."""

    def said(
        self,
        *,
        without: str,
        zones: Collection[str] | None = None,
        among: Callable[[Sequence[str]], Collection[str]] | None = None,
    ) -> str:
        """Return a sentence without its full stop, after that of the one before; empty without any.

        What it says is an advice: that AWS does not answer changes no finding.

        Args:
            without: The type that is not to be had.
            zones: At least one of them has to have the others.
            among: Returns those that pass another test, of those that are offered.
        """
        try:
            offered = self._offered(self._zones() if zones is None else {*zones}, without)
            fitting = [*(among(offered) if among and offered else offered)]
        except AwsError:
            return ""
        if not fitting:
            return ""
        prices = {name: price for name in fitting if (price := self._usd_per_hour(name))}
        known = self._measured(prices)
        return f". Others that the job's zones have, {_listed(fitting, prices, known)}"

    def _zones(self) -> set[str]:
        there = self.ec2.subnets(self.subnet_ids).values()
        return {subnet["AvailabilityZone"] for subnet in there}

    def _offered(self, zones: set[str], without: str) -> list[str]:
        others = {name.removeprefix("ml."): name for name in self.names if name != without}
        offering = self.ec2.zones_offering_each(others)
        return [name for ec2_name, name in others.items() if offering.get(ec2_name, set()) & zones]

    def _usd_per_hour(self, name: str) -> float | None:
        price = find_price(self.service, self.region, name, cache=self.cache)
        return None if isinstance(price, Unknown) else price.usd_per_hour

    def _measured(self, names: Collection[str]) -> dict[str, Measured]:
        """Return the newest measurement on each type; SageMaker's machines are EC2's."""
        found: dict[str, Measured] = {}
        by_ec2_name = {name.removeprefix("ml."): name for name in names}
        for pace in self.paces() if names else ():
            name = by_ec2_name.get(pace.instance_type.removeprefix("ml."))
            if name is not None:
                found.setdefault(name, pace)
        return found


def _listed(
    names: Sequence[str], usd_per_hour: Mapping[str, float], measured: Mapping[str, Measured]
) -> str:
    """Return the names by what is known of each; `MOST_NAMED` of them in all."""
    pictures = {name: _usd_per_million(usd_per_hour[name], measured[name]) for name in measured}
    gpus = {
        name: usd / find_instance(name).gpus
        for name, usd in usd_per_hour.items()
        if name not in measured
    }
    first = _cheapest(pictures, MOST_NAMED)
    second = _cheapest(gpus, MOST_NAMED - len(first))
    parts = []
    if first:
        listed = ", ".join(
            f"{name} {pictures[name]:,.2f} USD ({_source(measured[name])})" for name in first
        )
        parts.append(f"by the price on demand of a million pictures, as measured: {listed}")
    if second:
        listed = ", ".join(f"{name} {gpus[name]:,.2f} USD" for name in second)
        parts.append(f"by the price of a GPU hour on demand: {listed}")
    unpriced = [name for name in names if name not in usd_per_hour]
    left = unpriced[: MOST_NAMED - len(first) - len(second)]
    if left:
        more = " and others" if len(unpriced) > len(left) else ""
        parts.append(f"at a price that is not known here: {', '.join(left)}{more}")
    return "; ".join(parts)


def _cheapest(prices: Mapping[str, float], most: int) -> list[str]:
    return sorted(prices, key=lambda name: (prices[name], name))[:most]


def _usd_per_million(usd_per_hour: float, pace: Measured) -> float:
    """Return what a million pictures cost on as many instances as they were measured on."""
    return usd_per_hour * pace.instances / HOUR_S / pace.images_per_second * 1e6


def _source(pace: Measured) -> str:
    instances = f"{pace.instances:,} instance{'' if pace.instances == 1 else 's'}"
    return f"{pace.of_each:,.3g} a second on each GPU of {instances}, {pace.place}"


def alternatives_of(
    job: Job, ec2: Ec2, s3: S3, *, region: str, bucket: str, subnet_ids: Sequence[str] = ()
) -> Alternatives:
    """Return the types of the job's row in the table of what runs where.

    Args:
        job: The planned one.
        ec2: Knows which zones offer what.
        s3: Reads what earlier jobs have measured.
        region: Where the job runs.
        bucket: That has the logs of earlier jobs.
        subnet_ids: The job's.
    """
    spec = job.spec
    wanted = {
        "sagemaker": spec.sagemaker.distribution,
        "ec2": spec.ec2.distribution,
        "eks": spec.eks.distribution,
    }[spec.platform]
    # Of several rows the first has the platform's default.
    row = next(
        row
        for row in PAIRINGS
        if row.algorithm == spec.algorithm
        and spec.platform in row.platforms
        and wanted in (None, row.distribution)
    )
    return Alternatives(
        ec2,
        names=right_instances(row, spec.platform),
        service=SAGEMAKER_TRAINING if spec.platform == "sagemaker" else EC2_ON_DEMAND,
        region=region,
        cache=price_cache(os.environ),
        subnet_ids=subnet_ids,
        paces=paces_before(job, s3, bucket),
    )
