"""What a job on the cluster costs: head included, unknown never 0."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from training.platforms.api import Cost
from training.prices.ec2_cost import Nodes, ec2_cost
from training.prices.price_list import EC2_ON_DEMAND
from training.prices.table import Price, find_price

TODAY = date(2026, 11, 28)


def cost(cache: Path, worker: str = "p3.16xlarge", **changes: Any) -> Cost:
    options: dict[str, Any] = {
        "max_run_s": 172_800,
        "wait_s": 1800,
        "retries": 0,
        "is_spot": False,
        "keep_workers": False,
        "region": "us-east-1",
        "today": TODAY,
        **changes,
    }
    nodes = (
        Nodes(what="worker", type=worker, count=2),
        Nodes(what="head", type="m6i.xlarge", count=1),
    )
    return ec2_cost(nodes, cache=cache, **options)


def test_two_p3_16xlarge_and_their_head_at_awss_list_price(tmp_path: Path) -> None:
    found = cost(tmp_path)
    # 2 x 24.48 + 0.192, for 48.5 hours.
    assert (found.per_hour, found.maximum) == (49.152, 2383.88)
    assert (found.price_age_days, found.price_region) == (65, "us-east-1")
    said = "\n".join(found.assumptions)
    assert "2 p3.16xlarge (worker) at 24.48 USD an hour each, on demand in us-east-1" in said
    assert "1 m6i.xlarge (head) at 0.192 USD" in said
    assert "AWS's list price of 2026-09-24" in said
    assert "the head is paid for between jobs, too" in said
    assert "left out: EBS of each node, S3, EFS or FSx, NAT" in said


def test_each_retry_may_wait_for_its_workers_again(tmp_path: Path) -> None:
    found = cost(tmp_path, retries=3)
    # 49.152 an hour, for 48 hours and 4 times half an hour.
    assert found.maximum == 2457.60
    assert "at most 4 times 1,800 s of waiting for workers and 172,800 s" in " ".join(
        found.assumptions
    )


def test_a_price_that_no_list_has_is_unknown_and_what_is_known_is_said(tmp_path: Path) -> None:
    found = cost(tmp_path, worker="p6-b300.48xlarge")
    assert (found.per_hour, found.maximum, found.price_age_days) == (None, None, None)
    said = "\n".join(found.assumptions)
    assert "1 m6i.xlarge (head) at 0.192 USD" in said
    assert "no price of p6-b300.48xlarge in us-east-1 is known here" in said
    assert "the job takes 2 of it (worker)" in said


def test_another_regions_price_is_never_taken(tmp_path: Path) -> None:
    assert cost(tmp_path, region="eu-west-1").per_hour is None


def test_spot_workers_cost_at_most_what_they_do_on_demand(tmp_path: Path) -> None:
    found = cost(tmp_path, is_spot=True)
    assert found.maximum == cost(tmp_path).maximum
    assert any("spot instances: less, by how much" in each for each in found.assumptions)


def test_workers_that_stay_have_no_maximum(tmp_path: Path) -> None:
    found = cost(tmp_path, keep_workers=True)
    assert (found.per_hour, found.maximum) == (49.152, None)


def test_an_old_price_says_how_to_fetch_todays(tmp_path: Path) -> None:
    found = cost(tmp_path, today=date(2027, 1, 1))
    assert found.price_age_days == 99
    assert any("that price is 99 days old" in each for each in found.assumptions)


@pytest.mark.parametrize("instance_type", ["p4d.24xlarge", "g5.xlarge", "g6e.48xlarge"])
def test_types_of_the_design_have_a_price_with_its_source(
    tmp_path: Path, instance_type: str
) -> None:
    found = find_price(EC2_ON_DEMAND, "us-east-1", instance_type, cache=tmp_path)
    assert isinstance(found, Price)
    assert "AmazonEC2 of us-east-1, version 20260924211011" in found.of.source
