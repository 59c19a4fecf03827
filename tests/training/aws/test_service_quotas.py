"""Quotas by name: thousands, of which a few are wanted."""

from __future__ import annotations

from typing import Any

from training.aws.service_quotas import AppliedQuota, ServiceQuotas


class Paged:
    """Three pages of one quota each."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.meta: Any = None

    def list_service_quotas(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        number = int(request.get("NextToken", 1))
        quota = {
            "QuotaName": f"quota {number}",
            "Value": number,
            "QuotaCode": f"L-{number}",
            "Adjustable": number != 3,
        }
        more = {"NextToken": str(number + 1)} if number < 3 else {}
        return {"Quotas": [quota], **more}


def test_pages_are_asked_no_further_than_is_wanted_and_once() -> None:
    client = Paged()
    quotas = ServiceQuotas(client)
    assert quotas.quotas_by_name("s", ["quota 1"]) == {"quota 1": AppliedQuota(1, "L-1")}
    assert client.asked == [{"ServiceCode": "s", "MaxResults": 100}]
    assert quotas.quota_by_name("s", "quota 2") == AppliedQuota(2, "L-2")
    assert quotas.quota_by_name("s", "quota 1") == AppliedQuota(1, "L-1")
    assert [each.get("NextToken") for each in client.asked] == [None, "2"]


def test_what_is_in_no_page_is_left_out_and_not_asked_for_again() -> None:
    client = Paged()
    quotas = ServiceQuotas(client)
    for _ in range(2):
        found = quotas.quotas_by_name("s", ["quota 3", "quota 9"])
        assert found == {"quota 3": AppliedQuota(3, "L-3", is_adjustable=False)}
    assert len(client.asked) == 3


def test_each_service_has_its_own() -> None:
    client = Paged()
    quotas = ServiceQuotas(client)
    quotas.quota_by_name("a", "quota 3")
    assert quotas.quota_by_name("b", "quota 1") == AppliedQuota(1, "L-1")
    assert [each["ServiceCode"] for each in client.asked] == ["a", "a", "a", "b"]
