"""What a job has cost so far: what is not known is never 0."""

from __future__ import annotations

from pathlib import Path

from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING
from training.prices.spent import spent
from training.prices.table import Price, find_price
from training.prices.usage import NotKnown, Usage


def usage(instance_type: str, count: int, seconds: float, service: str = EC2_ON_DEMAND) -> Usage:
    return Usage(
        service=service,
        region="us-east-1",
        instance_type=instance_type,
        count=count,
        seconds=seconds,
    )


def test_each_machine_at_its_list_price(tmp_path: Path) -> None:
    found = spent([usage("p3.16xlarge", 2, 5400), usage("m6i.xlarge", 1, 5400)], cache=tmp_path)
    # 2 x 24.48 + 0.192, for an hour and a half.
    assert found.to_json() == {
        "currency": "USD",
        "so_far": 73.73,
        "instance_hours": 4.5,
        "assumptions": [
            "2 p3.16xlarge for 5,400 s at 24.48 USD an hour each, on demand in us-east-1, AWS's "
            "list price of 2026-09-24",
            "1 m6i.xlarge for 5,400 s at 0.192 USD an hour each, on demand in us-east-1, AWS's "
            "list price of 2026-09-24",
        ],
    }


def test_sagemakers_machines_have_sagemakers_price(tmp_path: Path) -> None:
    price = find_price(SAGEMAKER_TRAINING, "us-east-1", "ml.p4d.24xlarge", cache=tmp_path)
    assert isinstance(price, Price)
    found = spent([usage("ml.p4d.24xlarge", 4, 1800, SAGEMAKER_TRAINING)], cache=tmp_path)
    assert (found.hours, found.usd) == (2, 2 * price.usd_per_hour)


def test_a_job_without_machines_yet_has_cost_nothing(tmp_path: Path) -> None:
    found = spent((), cache=tmp_path)
    assert (found.usd, found.hours, found.assumptions) == (0, 0, ())


def test_one_price_that_is_not_known_makes_the_sum_unknown(tmp_path: Path) -> None:
    found = spent(
        [usage("p3.16xlarge", 2, 3600), usage("p6-b300.48xlarge", 1, 3600)], cache=tmp_path
    )
    assert (found.usd, found.hours) == (None, 3)
    assert "no price of p6-b300.48xlarge in us-east-1" in found.assumptions[0]


def test_what_nobody_tells_is_said(tmp_path: Path) -> None:
    found = spent(NotKnown("its pods are gone"), cache=tmp_path)
    assert (found.usd, found.hours, found.assumptions) == (None, None, ("its pods are gone",))
    assert found.to_json()["so_far"] is None
