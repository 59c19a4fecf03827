"""Limits of an account in a region."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask


class ServiceQuotas:
    """Service Quotas."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def limit(self, service: str, quota: str) -> float | None:
        """Return a quota of this account, or AWS's default; None where the service knows neither.

        Args:
            service: Service Quotas' own code, such as `vpc`.
            quota: Of the form `L-F678F1CE`.
        """
        # The first has an answer only where a value was applied to this account.
        for method in ("get_service_quota", "get_aws_default_service_quota"):
            try:
                answer = ask(self._client, method, ServiceCode=service, QuotaCode=quota)
            except AwsRefused as error:
                if error.code != "NoSuchResourceException":
                    raise
            else:
                return float(answer["Quota"]["Value"])
        return None

    def limit_by_name(self, service: str, name: str) -> float | None:
        """Return a quota whose code differs by thing, such as by instance type; None without one.

        Args:
            service: Service Quotas' own code, such as `sagemaker`.
            name: The whole name, such as `ml.m5.2xlarge for notebook instance usage`.
        """
        return self.limits_by_name(service, [name]).get(name)

    def limits_by_name(self, service: str, names: Collection[str]) -> dict[str, float]:
        """Return those of some quotas that there are, by name.

        A service has thousands, which are looked through once, a hundred a request.
        """
        found: dict[str, float] = {}
        request = {"ServiceCode": service, "MaxResults": 100}
        while True:
            answer = ask(self._client, "list_service_quotas", **request)
            found |= {
                quota["QuotaName"]: float(quota["Value"])
                for quota in answer["Quotas"]
                if quota["QuotaName"] in names
            }
            if len(found) == len(set(names)) or not answer.get("NextToken"):
                return found
            request["NextToken"] = answer["NextToken"]
