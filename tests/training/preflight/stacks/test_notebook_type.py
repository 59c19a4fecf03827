"""The notebook's instance type."""

from __future__ import annotations

import pytest

from tests.training.preflight.stacks.conftest import REGION, Stub, codes_of, only_finding_of
from training.aws.service_quotas import ServiceQuotas
from training.preflight.stacks.notebook_type import NotebookTypeIsAllowed

FIRST = {"ServiceCode": "sagemaker", "MaxResults": 100}


def check(stub: Stub, value: float | None) -> NotebookTypeIsAllowed:
    other = {"QuotaName": "ml.m5.2xlarge for training job usage", "Value": 0.0, "QuotaCode": "L-1"}
    name = "ml.m5.2xlarge for notebook instance usage"
    quotas = [{"QuotaName": name, "Value": value, "QuotaCode": "L-2"}] if value is not None else []
    client = stub(
        "service-quotas",
        ("list_service_quotas", {"Quotas": [other], "NextToken": "more"}, FIRST),
        ("list_service_quotas", {"Quotas": quotas}, {**FIRST, "NextToken": "more"}),
    )
    return NotebookTypeIsAllowed(
        service_quotas=ServiceQuotas(client), region=REGION, instance_type="ml.m5.2xlarge"
    )


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        (8, []),
        (1, []),
        (0, ["notebook-quota-is-zero"]),
        (None, ["notebook-type-without-quota"]),
    ],
)
def test_the_quota_of_the_type_decides(stub: Stub, value: float | None, codes: list[str]) -> None:
    assert codes_of(check(stub, value)) == codes


def test_a_quota_of_none_comes_with_the_request_for_one(stub: Stub) -> None:
    message = only_finding_of(check(stub, 0), "notebook-quota-is-zero").message
    assert (
        "Ask for more: aws service-quotas request-service-quota-increase --service-code sagemaker "
        f"--quota-code L-2 --desired-value 1 --region {REGION}, or choose another type"
    ) in message
