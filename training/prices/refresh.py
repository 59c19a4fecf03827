"""`refresh`: fetch today's prices from AWS, and keep them in the user's cache."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from typing import Annotated, Any

import typer

from training.aws.pricing import ENDPOINTS, Pricing
from training.cli import Format, FormatOption, log, print_json, result
from training.errors import AwsError, UsageError
from training.prices.cache import price_cache, write_cached
from training.prices.price_list import PriceList, is_region
from training.prices.services import SERVICES, Service


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
    """Fetch today's prices of SageMaker training and of EC2 from AWS.

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
        # All before the first is kept: what was fetched before stays together, too.
        for prices in [_fetch_from(client, service, region) for service in SERVICES]:
            file = write_cached(price_cache(os.environ), prices)
            log.print(f"{region}: {len(prices.usd_per_hour)} prices of {prices.service}")
            written.append((prices, file))
    if output_format is Format.JSON:
        print_json([{**prices.to_json(), "file": str(file)} for prices, file in written])
        return
    for _, file in written:
        result.print(str(file))


def _fetch_from(client: Any, service: Service, region: str) -> PriceList:
    from training.aws.client import is_of_aws

    try:
        return fetch(Pricing(client), service, region, today=datetime.now(UTC).date())
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


def fetch(pricing: Pricing, service: Service, region: str, *, today: date) -> PriceList:
    """Return what a service asks in a region for each type of instance.

    Raises:
        AwsError: AWS refused, did not answer, or has no such price in USD there.
    """
    products = list(pricing.products(service.code, regionCode=region, **service.attributes))
    found = service.prices(products)
    if not found:
        raise AwsError(
            f"GetProducts: AWS lists no price in USD of {service.title} in {region}; "
            "check the region's name"
        )
    # Of two prices for one type, it is not known which a job would pay.
    clear = {name: prices[0] for name, prices in found.items() if len(prices) == 1}
    return PriceList(
        service=service.name,
        region=region,
        as_of=today,
        complete=len(clear) == len(found),
        source=f"AWS's Price List API, {service.code}, version "
        f"{max(product.version for product in products)}",
        usd_per_hour=clear,
    )


def _own_region(name: str | None) -> str:
    if name is None:
        raise UsageError("--region: no region is set; name one, such as --region us-west-2")
    return name
