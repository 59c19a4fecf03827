"""AWS's prices, as its Price List API tells them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from training.aws.request import ask
from training.errors import AwsError

ENDPOINTS = ("us-east-1", "eu-central-1", "ap-south-1")
"""The regions that answer, each for all: the API's region says nothing about the product's.

https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-ppslong.html
"""


@dataclass(frozen=True)
class Rate:
    """A price on demand."""

    unit: str
    """Such as `Hrs`."""
    usd: float | None
    """Of one unit; None where it is asked in another currency."""


@dataclass(frozen=True)
class Product:
    """One product of a service, and what is paid for it on demand."""

    attributes: Mapping[str, str]
    """Spelled as AWS does: `instanceName`, `component`, `usagetype` and others."""
    version: str
    """Of the service's price list, such as `20260921172504`."""
    rates: tuple[Rate, ...]


class Pricing:
    """AWS Price List Service, of one of the `ENDPOINTS`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def products(self, service: str, **attributes: str) -> Iterator[Product]:
        """Yield the products of a service that have some attributes, a hundred a request.

        Args:
            service: AWS's code of it, such as `AmazonSageMaker`.
            attributes: Spelled as AWS does, with the whole value.

        Raises:
            AwsError: AWS refused, did not answer, or answered in another form.
        """
        request: dict[str, Any] = {
            "ServiceCode": service,
            "FormatVersion": "aws_v1",
            "Filters": [
                {"Type": "TERM_MATCH", "Field": name, "Value": value}
                for name, value in attributes.items()
            ],
            "MaxResults": 100,
        }
        while True:
            answer = ask(self._client, "get_products", **request)
            for each in answer.get("PriceList", []):
                yield _read(each)
            if not answer.get("NextToken"):
                return
            request["NextToken"] = answer["NextToken"]


def _read(text: str) -> Product:
    """Return a product of the form that the AWS CLI shows in its example of get-products:

    https://docs.aws.amazon.com/cli/latest/reference/pricing/get-products.html
    """
    try:
        value = json.loads(text)
        dimensions = [
            dimension
            for term in value["terms"].get("OnDemand", {}).values()
            for dimension in term["priceDimensions"].values()
        ]
        return Product(
            attributes=value["product"]["attributes"],
            version=value["version"],
            rates=tuple(_rate(each) for each in dimensions),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise AwsError(
            f"GetProducts: the price list has a product of a form that is not known ({error!r}): "
            f"{text:.200}"
        ) from error


def _rate(dimension: Mapping[str, Any]) -> Rate:
    usd = dimension["pricePerUnit"].get("USD")
    return Rate(unit=dimension["unit"], usd=None if usd is None else float(usd))
