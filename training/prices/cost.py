"""What a SageMaker job costs, worked out from the requests that would be sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from training.platforms.api import Cost
from training.prices.price_list import MAX_AGE_DAYS, SAGEMAKER_TRAINING
from training.prices.table import Price, Unknown, find_price, refresh_command

HOUR_S = 3600

AFTER_THE_LIMIT = "what is billed after limits.max_run_s, to stop and to upload"


@dataclass(frozen=True)
class _Instances:
    """What a training job runs on, and for how long at most."""

    type: str
    count: int
    seconds: int
    """Of each instance. SageMaker bills the time of the job times the number of instances; where it
    tries a failed job again, the limit is for all attempts together. See BillableTimeInSeconds of
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html and
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StoppingCondition.html
    """

    def hours(self) -> float:
        """Return the hours of all instances together."""
        return self.count * self.seconds / HOUR_S


def sagemaker_cost(
    body: Mapping[str, Any],
    before: Iterable[Mapping[str, Any]] = (),
    *,
    region: str,
    today: date,
    cache: Path,
) -> Cost:
    """Return what a training job costs, and the jobs that prepare it; unknown is None, never 0.

    The maximum is the price on demand for as long as the job may run. Where it runs on spot
    capacity it costs less, by how much is known only afterwards.

    Args:
        body: Of CreateTrainingJob.
        before: Other requests that are sent first; those that start no instances cost nothing.
        region: Where they are sent.
        today: Tells how old the prices are.
        cache: Where fetched prices are (`training.prices.cache.price_cache`).
    """
    config = body["ResourceConfig"]
    if plan := config.get("TrainingPlanArn"):
        return _unknown(f"the capacity of {plan} is paid for with the training plan")
    job = _instances(body)
    price = find_price(SAGEMAKER_TRAINING, region, job.type, cache=cache)
    if isinstance(price, Unknown):
        return _unknown(f"{price.why}; the job takes {job.count}")
    said, maximum = [_said(price, job)], price.usd_per_hour * job.hours()
    if keep_alive_s := config.get("KeepAlivePeriodInSeconds", 0):
        said.append(f"with {keep_alive_s} s of warm pool afterwards, at the same price")
        maximum += price.usd_per_hour * job.count * keep_alive_s / HOUR_S
    if body.get("EnableManagedSpotTraining"):
        said.append("spot costs less, by how much is known only afterwards")
    own, is_known = maximum, True
    for request in before:
        if "ResourceConfig" in request:
            usd, words = _preparation(_instances(request), region=region, cache=cache)
            is_known &= usd is not None
            maximum += usd or 0
            said.append(words)
    if not is_known:
        said.insert(0, f"the training itself at most {cents_up(own):,.2f} USD")
    age = price.of.age_days(today)
    if age > MAX_AGE_DAYS:
        said.append(f"that price is {age} days old: {refresh_command(region)} fetches today's")
    return Cost(
        per_hour=round(price.usd_per_hour * job.count, 6),
        # What leaves something out is no maximum.
        maximum=cents_up(maximum) if is_known else None,
        assumptions=(*said, f"left out: {_left_out(config)}"),
        price_age_days=age,
        price_region=region,
    )


def _instances(body: Mapping[str, Any]) -> _Instances:
    config = body["ResourceConfig"]
    return _Instances(
        type=config["InstanceType"],
        count=config["InstanceCount"],
        seconds=body["StoppingCondition"]["MaxRuntimeInSeconds"],
    )


def _said(price: Price, job: _Instances) -> str:
    return (
        f"{job.count} {job.type} at {price.usd_per_hour:.10g} USD an hour each, on demand in "
        f"{price.of.region}, AWS's list price of {price.of.as_of}"
    )


def _preparation(job: _Instances, *, region: str, cache: Path) -> tuple[float | None, str]:
    """Return what a job before costs at most, in USD, and how that is said; None is unknown."""
    price = find_price(SAGEMAKER_TRAINING, region, job.type, cache=cache)
    what = f"at most {job.seconds} s of {job.type} for the log folder"
    if isinstance(price, Unknown):
        return None, f"what {what} costs is not known: {price.why}"
    usd = price.usd_per_hour * job.hours()
    return usd, f"with {what}, {usd:,.2f} USD"


def _left_out(config: Mapping[str, Any]) -> str:
    disk = config.get("VolumeSizeInGB")
    volumes = f"{disk} GB of EBS for each instance, " if disk else ""
    return f"{volumes}S3, EFS or FSx, NAT and data transfer, {AFTER_THE_LIMIT}, taxes, discounts"


def cents_up(usd: float) -> float:
    """Return the next whole cent: a maximum holds, and what is paid for is never 0."""
    return math.ceil(round(usd * 100, 6)) / 100


def _unknown(why: str) -> Cost:
    return Cost(per_hour=None, maximum=None, assumptions=(why,))
