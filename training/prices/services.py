"""The services whose prices are fetched: what AWS's Price List API is asked, and what is taken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from training.aws.pricing import Product
from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING, is_price


@dataclass(frozen=True, kw_only=True)
class Service:
    """One of them."""

    name: str
    """As `training.prices.price_list` has it."""
    title: str
    """For messages."""
    code: str
    """AWS's ServiceCode."""
    attributes: Mapping[str, str]
    """Of every product that is wanted, spelled as AWS does."""
    usage: re.Pattern[str]
    """Of `usagetype`, with the instance type as the group `type`."""

    def prices(self, products: Iterable[Product]) -> dict[str, list[float]]:
        """Return the prices of an hour, in USD, by instance type: one each, as a rule."""
        found: dict[str, set[float]] = {}
        for product in products:
            usage = self.usage.fullmatch(product.attributes.get("usagetype", ""))
            if usage is None or not self._is_wanted(product):
                continue
            for rate in product.rates:
                if rate.unit == "Hrs" and rate.usd is not None and is_price(rate.usd):
                    found.setdefault(usage["type"], set()).add(rate.usd)
        return {name: sorted(prices) for name, prices in sorted(found.items())}

    def _is_wanted(self, product: Product) -> bool:
        return all(product.attributes.get(name) == text for name, text in self.attributes.items())


SERVICES = (
    Service(
        name=SAGEMAKER_TRAINING,
        title="SageMaker training",
        code="AmazonSageMaker",
        attributes={"component": "Training"},
        # Such as `USE1-Train:ml.m5.large`. Others look like prices of an hour and are none:
        # `USE1-TrainingPlanUpfrontFee:ml.p4d.24xlarge` is paid once.
        usage=re.compile(r"([A-Z0-9]+-)?Train:(?P<type>ml\..+)"),
    ),
    Service(
        name=EC2_ON_DEMAND,
        title="EC2",
        code="AmazonEC2",
        attributes={
            "operatingSystem": "Linux",
            "tenancy": "Shared",
            "preInstalledSw": "NA",
            "capacitystatus": "Used",
            "operation": "RunInstances",
        },
        # Such as `BoxUsage:p4d.24xlarge`, elsewhere `EUC1-BoxUsage:p4d.24xlarge`.
        usage=re.compile(r"([A-Z0-9]+-)?BoxUsage:(?P<type>[a-z].+)"),
    ),
)
