"""Limits of an account in a region."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask


@dataclass(frozen=True)
class AppliedQuota:
    """What an account may have of something in a region."""

    value: float
    code: str
    """Of the form `L-F678F1CE`."""
    is_adjustable: bool = True
    """Whether AWS takes requests for more."""


class ServiceQuotas:
    """Service Quotas."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._listings: dict[str, _Listing] = {}

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

    def quota_by_name(self, service: str, name: str) -> AppliedQuota | None:
        """Return a quota whose code differs by thing, such as by instance type; None without one.

        Args:
            service: Service Quotas' own code, such as `sagemaker`.
            name: The whole name, such as `ml.m5.2xlarge for notebook instance usage`.
        """
        return self.quotas_by_name(service, [name]).get(name)

    def quotas_by_name(self, service: str, names: Collection[str]) -> dict[str, AppliedQuota]:
        """Return those of some quotas that there are, by name.

        A service has thousands, which are looked through once, a hundred a request, and no further
        than is wanted. What was seen is kept: who asks again goes on from there.
        """
        listing = self._listings.setdefault(service, _Listing())
        while not listing.is_whole and not listing.seen.keys() >= {*names}:
            token = {"NextToken": listing.token} if listing.token else {}
            request = {"ServiceCode": service, "MaxResults": 100, **token}
            listing.take(ask(self._client, "list_service_quotas", **request))
        return {name: listing.seen[name] for name in names if name in listing.seen}


@dataclass
class _Listing:
    """How far the quotas of a service have been looked through."""

    seen: dict[str, AppliedQuota] = field(default_factory=dict)
    token: str | None = None
    """Where to go on."""
    is_whole: bool = False

    def take(self, answer: dict[str, Any]) -> None:
        for quota in answer["Quotas"]:
            self.seen[quota["QuotaName"]] = AppliedQuota(
                float(quota["Value"]), quota["QuotaCode"], quota.get("Adjustable", True)
            )
        self.token = answer.get("NextToken")
        self.is_whole = not self.token
