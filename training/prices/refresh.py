"""`refresh`: fetch today's prices from AWS, and keep them in the user's cache."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Annotated, Any

import typer

from training.aws.pricing import ENDPOINTS, Pricing, Product
from training.cli import Format, FormatOption, log, print_json, result
from training.errors import AwsError, UsageError
from training.prices.cache import price_cache, write_cached
from training.prices.price_list import SAGEMAKER_TRAINING, PriceList, is_price, is_region

_SERVICE, _COMPONENT = "AmazonSageMaker", "Training"

_TRAINING = re.compile(r"([A-Z0-9]+-)?Train:(?P<type>ml\..+)")
"""`usagetype` of a training instance on demand, such as `USE1-Train:ml.m5.large`. Others look like
prices of an hour and are none: `USE1-TrainingPlanUpfrontFee:ml.p4d.24xlarge` is paid once."""


def refresh(
    regions: Annotated[
        list[str] | None,
        typer.Option(
            "--region",
            metavar="REGION",
            help="Whose prices; may be repeated. By default the region of the AWS settings.",
        ),
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", help="A profile of the AWS settings.")
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Fetch today's prices of SageMaker training from AWS.

    Plans use them. They go into the cache of this user (XDG_CACHE_HOME, or ~/.cache). It takes the
    permission pricing:GetProducts.
    """
    from training.aws.client import new_client, new_session

    session = new_session(profile=profile)
    written = []
    for region in dict.fromkeys(regions or [_own_region(session.region_name)]):
        if not is_region(region):
            raise UsageError(f"--region {region}: no region's name; one looks like eu-west-1")
        client = new_client(session, "pricing", region=endpoint_for(region))
        prices = _fetch_from(client, region)
        file = write_cached(price_cache(os.environ), prices)
        log.print(f"{region}: {len(prices.usd_per_hour)} prices")
        written.append((prices, file))
    if output_format is Format.JSON:
        print_json([{**prices.to_json(), "file": str(file)} for prices, file in written])
        return
    for _, file in written:
        result.print(str(file))


def _fetch_from(client: Any, region: str) -> PriceList:
    from training.aws.client import is_of_aws

    try:
        return fetch(Pricing(client), region, today=datetime.now(UTC).date())
    except AwsError as error:
        if is_of_aws(client):
            raise
        raise AwsError(
            f"{client.meta.endpoint_url}: a local AWS has no price list. Fetch prices from an "
            f"account, without AWS_ENDPOINT_URL ({error})"
        ) from error


def endpoint_for(region: str) -> str:
    """Return the region whose Price List API is asked for a region's prices."""
    return region if region in ENDPOINTS else ENDPOINTS[0]


def fetch(pricing: Pricing, region: str, *, today: date) -> PriceList:
    """Return what SageMaker asks in a region for each type of training instance.

    Raises:
        AwsError: AWS refused, did not answer, or has no such price in USD there.
    """
    products = list(pricing.products(_SERVICE, regionCode=region, component=_COMPONENT))
    found = training_prices(products)
    if not found:
        raise AwsError(
            f"GetProducts: AWS lists no price in USD of SageMaker training in {region}; "
            "check the region's name"
        )
    # Of two prices for one type, it is not known which a job would pay.
    clear = {name: prices[0] for name, prices in found.items() if len(prices) == 1}
    return PriceList(
        service=SAGEMAKER_TRAINING,
        region=region,
        as_of=today,
        complete=len(clear) == len(found),
        source=f"AWS's Price List API, {_SERVICE}, version "
        f"{max(product.version for product in products)}",
        usd_per_hour=clear,
    )


def training_prices(products: Iterable[Product]) -> dict[str, list[float]]:
    """Return the prices of an hour on demand, in USD, by instance type: one each, as a rule."""
    found: dict[str, set[float]] = {}
    for product in products:
        usage = _TRAINING.fullmatch(product.attributes.get("usagetype", ""))
        if usage is None or product.attributes.get("component") != _COMPONENT:
            continue
        for rate in product.rates:
            if rate.unit == "Hrs" and rate.usd is not None and is_price(rate.usd):
                found.setdefault(usage["type"], set()).add(rate.usd)
    return {name: sorted(prices) for name, prices in sorted(found.items())}


def _own_region(name: str | None) -> str:
    if name is None:
        raise UsageError("--region: no region is set; name one, such as --region us-west-2")
    return name
