"""The command that asks AWS for more of a quota, ready to be pasted."""

from __future__ import annotations

from training.aws.service_quotas import AppliedQuota


def request_more(*, service: str, code: str, wanted: float, region: str) -> str:
    """Return how to ask for a value of a quota.

    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_RequestServiceQuotaIncrease.html

    Args:
        service: Service Quotas' own code, such as `sagemaker`.
        code: Of the form `L-F678F1CE`.
        wanted: The whole value, not what is added.
    """
    return (
        f"aws service-quotas request-service-quota-increase --service-code {service} "
        f"--quota-code {code} --desired-value {wanted:.12g} --region {region}"
    )


def ask_for_more(service: str, quota: AppliedQuota, wanted: float, region: str) -> str:
    """Return a sentence without its full stop: how to ask, or that a request changes nothing."""
    if not quota.is_adjustable:
        return "AWS raises it on no request: its Support may know more"
    command = request_more(service=service, code=quota.code, wanted=wanted, region=region)
    return f"Ask for more: {command}"
