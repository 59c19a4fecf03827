"""Instance types that a job could take instead, the cheapest first."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training.algorithms.pairings import PAIRINGS, right_instances
from training.aws.ec2 import Ec2
from training.errors import AwsError
from training.instances import find_instance
from training.prices.cache import price_cache
from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING
from training.prices.table import Unknown, find_price

if TYPE_CHECKING:
    from training.job import Job

MOST_NAMED = 5


@dataclass(frozen=True)
class Alternatives:
    """Types that the job's algorithm runs on, whether or not they are to be had.

    They are ranked by the price of an hour of one GPU. What a picture costs on each is not known:
    that takes a measurement of each.
    """

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
        prices = {name: price for name in fitting if (price := self._usd_per_gpu_hour(name))}
        ranked = sorted(prices, key=lambda name: (prices[name], name))[:MOST_NAMED]
        unpriced = [name for name in fitting if name not in prices]
        return f". Others that the job's zones have, {_listed(ranked, prices, unpriced)}"

    def _zones(self) -> set[str]:
        there = self.ec2.subnets(self.subnet_ids).values()
        return {subnet["AvailabilityZone"] for subnet in there}

    def _offered(self, zones: set[str], without: str) -> list[str]:
        others = {name.removeprefix("ml."): name for name in self.names if name != without}
        offering = self.ec2.zones_offering_each(others)
        return [name for ec2_name, name in others.items() if offering.get(ec2_name, set()) & zones]

    def _usd_per_gpu_hour(self, name: str) -> float | None:
        price = find_price(self.service, self.region, name, cache=self.cache)
        return None if isinstance(price, Unknown) else price.usd_per_hour / find_instance(name).gpus


def _listed(ranked: Sequence[str], prices: Mapping[str, float], unpriced: Sequence[str]) -> str:
    parts = []
    if ranked:
        listed = ", ".join(f"{name} {prices[name]:,.2f} USD" for name in ranked)
        parts.append(f"by the price of a GPU hour on demand: {listed}")
    if unpriced and len(ranked) < MOST_NAMED:
        left = unpriced[: MOST_NAMED - len(ranked)]
        more = " and others" if len(unpriced) > len(left) else ""
        parts.append(f"at a price that is not known here: {', '.join(left)}{more}")
    return "; ".join(parts)


def alternatives_of(job: Job, ec2: Ec2, *, region: str, subnet_ids: Sequence[str]) -> Alternatives:
    """Return the types of the job's row in the table of what runs where."""
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
    )
