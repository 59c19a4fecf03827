"""Answers of GetProducts, of the form that AWS documents.

https://docs.aws.amazon.com/cli/latest/reference/pricing/get-products.html
"""

from __future__ import annotations

import json
from typing import Any

import boto3
from botocore.stub import Stubber

VERSION = "20260921172504"


def product(  # noqa: PLR0917
    instance_type: str,
    usd: str | None,
    component: str | None = "Training",
    usage: str = "Train",
    unit: str = "Hrs",
    version: str = VERSION,
) -> str:
    """Return one of PriceList's texts: an instance type of SageMaker in eu-west-1."""
    attributes = {
        "instanceName": instance_type,
        "instanceType": f"{instance_type}-{component}",
        "operation": "RunInstance",
        "regionCode": "eu-west-1",
        "servicecode": "AmazonSageMaker",
        "usagetype": f"EU-{usage}:{instance_type}",
    }
    if component is not None:
        attributes["component"] = component
    dimension = {
        "unit": unit,
        "beginRange": "0",
        "endRange": "Inf",
        "appliesTo": [],
        "rateCode": "3MKHN58N7RDDVGKJ.JRTCKXETXF.6YS6EN2CT7",
        "pricePerUnit": {"CNY": "1.0"} if usd is None else {"USD": usd},
    }
    term = {
        "sku": "3MKHN58N7RDDVGKJ",
        "offerTermCode": "JRTCKXETXF",
        "effectiveDate": "2026-09-01T00:00:00Z",
        "termAttributes": {},
        "priceDimensions": {"3MKHN58N7RDDVGKJ.JRTCKXETXF.6YS6EN2CT7": dimension},
    }
    return json.dumps(
        {
            "product": {
                "productFamily": "ML Instance",
                "attributes": attributes,
                "sku": "3MKHN58N7RDDVGKJ",
            },
            "serviceCode": "AmazonSageMaker",
            "terms": {"OnDemand": {"3MKHN58N7RDDVGKJ.JRTCKXETXF": term}},
            "version": version,
            "publicationDate": "2026-09-21T17:25:04Z",
        }
    )


def asked(region: str, token: str | None = None) -> dict[str, Any]:
    """Return the request for SageMaker's training instances of a region."""
    return {
        "ServiceCode": "AmazonSageMaker",
        "FormatVersion": "aws_v1",
        "Filters": [
            {"Type": "TERM_MATCH", "Field": "regionCode", "Value": region},
            {"Type": "TERM_MATCH", "Field": "component", "Value": "Training"},
        ],
        "MaxResults": 100,
        **({} if token is None else {"NextToken": token}),
    }


def ec2_product(  # noqa: PLR0917
    instance_type: str,
    usd: str,
    usage: str = "BoxUsage",
    operation: str = "RunInstances",
    system: str = "Linux",
    unit: str = "Hrs",
) -> str:
    """Return one of PriceList's texts: an instance type of EC2 in eu-west-1."""
    value = json.loads(product(instance_type, usd, None, unit=unit))
    value["product"]["attributes"] = {
        "capacitystatus": "Used",
        "instanceType": instance_type,
        "operatingSystem": system,
        "operation": operation,
        "preInstalledSw": "NA",
        "regionCode": "eu-west-1",
        "servicecode": "AmazonEC2",
        "tenancy": "Shared",
        "usagetype": f"EU-{usage}:{instance_type}",
    }
    return json.dumps(value)


def ec2_asked(region: str) -> dict[str, Any]:
    """Return the request for EC2's instances with Linux of a region."""
    wanted = {
        "regionCode": region,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "operation": "RunInstances",
    }
    filters = [{"Type": "TERM_MATCH", "Field": k, "Value": v} for k, v in wanted.items()]
    return {**asked(region), "ServiceCode": "AmazonEC2", "Filters": filters}


def answer(*products: str, token: str | None = None) -> dict[str, Any]:
    return {
        "FormatVersion": "aws_v1",
        "PriceList": list(products),
        **({} if token is None else {"NextToken": token}),
    }


def pricing_client() -> tuple[Any, Stubber]:
    client = boto3.client(
        "pricing",
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    return client, Stubber(client)
