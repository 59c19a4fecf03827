"""What a SageMaker job costs."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.platforms.api import Cost
from training.prices.cache import write_cached
from training.prices.cost import sagemaker_cost
from training.prices.price_list import SAGEMAKER_TRAINING, PriceList

PROJECT = Path(__file__).resolve().parents[3]

AS_OF = date(2026, 11, 1)


def body(
    instance_type: str = "ml.g5.xlarge", *, count: int = 4, max_run_s: int = 7200, **config: Any
) -> dict[str, Any]:
    return {
        "ResourceConfig": {"InstanceType": instance_type, "InstanceCount": count, **config},
        "StoppingCondition": {"MaxRuntimeInSeconds": max_run_s},
    }


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prices")
    prices = PriceList(
        service=SAGEMAKER_TRAINING,
        region="eu-west-1",
        as_of=AS_OF,
        source="a test",
        complete=True,
        usd_per_hour={"ml.g5.xlarge": 1.5, "ml.m5.large": 0.12},
    )
    write_cached(folder, prices)
    return folder


def cost(
    request: dict[str, Any], *before: dict[str, Any], cache: Path, today: date = AS_OF
) -> Cost:
    return sagemaker_cost(request, before, region="eu-west-1", today=today, cache=cache)


def test_price_is_of_all_instances_and_the_maximum_of_the_longest_run(cache: Path) -> None:
    found = cost(body(), cache=cache)
    assert (found.per_hour, found.maximum, found.currency) == (6.0, 12.0, "USD")
    assert found.assumptions[0] == (
        "4 ml.g5.xlarge at 1.5 USD an hour each, on demand in eu-west-1, AWS's list price of "
        "2026-11-01"
    )
    assert found.price_age_days == 0


def test_spot_keeps_the_maximum_on_demand(cache: Path) -> None:
    spot = {**body(), "EnableManagedSpotTraining": True}
    spot["StoppingCondition"]["MaxWaitTimeInSeconds"] = 86_400
    found = cost(spot, cache=cache)
    assert (found.per_hour, found.maximum) == (6.0, 12.0)
    assert "spot costs less, by how much is known only afterwards" in found.assumptions


def test_retries_share_the_limit_of_the_run(cache: Path) -> None:
    again = {**body(), "RetryStrategy": {"MaximumRetryAttempts": 3}}
    assert cost(again, cache=cache).maximum == 12.0


def test_warm_pool_is_paid_for(cache: Path) -> None:
    found = cost(body(KeepAlivePeriodInSeconds=1800), cache=cache)
    assert (found.per_hour, found.maximum) == (6.0, 15.0)
    assert "with 1800 s of warm pool afterwards, at the same price" in found.assumptions


def test_preparation_counts_and_requests_without_instances_do_not(cache: Path) -> None:
    folders = body("ml.m5.large", count=1, max_run_s=1800)
    experiment = {"ExperimentName": "one"}
    found = cost(body(), folders, experiment, cache=cache)
    assert (found.per_hour, found.maximum) == (6.0, 12.06)
    assert "with at most 1800 s of ml.m5.large for the log folder, 0.06 USD" in found.assumptions


def test_preparation_without_a_price_leaves_no_maximum_and_the_jobs_own_part_is_told(
    cache: Path,
) -> None:
    folders = body("ml.t3.medium", count=1, max_run_s=1800)
    found = cost(body(count=4000), folders, cache=cache)
    assert (found.per_hour, found.maximum) == (6000.0, None)
    assert found.assumptions[0] == "the training itself at most 12,000.00 USD"
    assert (
        "what at most 1800 s of ml.t3.medium for the log folder costs is not known: AWS's list of "
        "2026-11-01 for eu-west-1 has no price of ml.t3.medium; `python -m training.prices refresh "
        "--region eu-west-1` asks AWS for today's"
    ) in found.assumptions


def test_type_without_a_price_is_unknown_and_says_how_to_ask(cache: Path) -> None:
    found = cost(body("ml.p3.16xlarge"), cache=cache)
    assert (found.per_hour, found.maximum, found.price_age_days) == (None, None, None)
    (said,) = found.assumptions
    assert "no price of ml.p3.16xlarge" in said
    assert "`python -m training.prices refresh --region eu-west-1`" in said
    assert said.endswith("the job takes 4")


def test_capacity_of_a_training_plan_is_paid_for_elsewhere(cache: Path) -> None:
    arn = "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/mine"
    found = cost(body(TrainingPlanArn=arn), cache=cache)
    assert (found.per_hour, found.maximum) == (None, None)
    assert found.assumptions == (f"the capacity of {arn} is paid for with the training plan",)


@pytest.mark.parametrize(("config", "named"), [({"VolumeSizeInGB": 100}, True), ({}, False)])
def test_what_is_left_out_is_said(cache: Path, config: dict[str, Any], named: bool) -> None:
    last = cost(body(**config), cache=cache).assumptions[-1]
    assert last.startswith("left out: ")
    assert ("100 GB of EBS for each instance" in last) is named
    assert "S3, EFS or FSx, NAT and data transfer" in last


@pytest.mark.parametrize(
    ("today", "age", "old"),
    [(date(2027, 1, 30), 90, False), (date(2027, 1, 31), 91, True), (date(2026, 1, 1), 0, False)],
)
def test_price_older_than_90_days_is_said_to_be(
    cache: Path, today: date, age: int, old: bool
) -> None:
    found = cost(body(), cache=cache, today=today)
    assert (found.price_age_days, found.price_region) == (age, "eu-west-1")
    text = f"that price is {age} days old: `python -m training.prices refresh --region eu-west-1`"
    assert any(each.startswith(text) for each in found.assumptions) is old


@given(count=st.integers(1, 64), max_run_s=st.integers(1, 2_419_200), keep_s=st.integers(0, 3600))
def test_maximum_grows_with_everything_that_is_asked_for(
    cache: Path, count: int, max_run_s: int, keep_s: int
) -> None:
    def most(count: int, max_run_s: int, keep_s: int) -> float:
        config: dict[str, Any] = {"KeepAlivePeriodInSeconds": keep_s} if keep_s else {}
        found = cost(body(count=count, max_run_s=max_run_s, **config), cache=cache).maximum
        assert found is not None
        return found

    base = most(count, max_run_s, keep_s)
    assert base == pytest.approx(1.5 * count * (max_run_s + keep_s) / 3600, abs=0.01)
    assert base >= round(1.5 * count * (max_run_s + keep_s) / 3600, 6)
    assert base <= most(count + 1, max_run_s, keep_s)
    assert base <= most(count, max_run_s + 3600, keep_s)


def test_shortest_job_is_not_free(cache: Path) -> None:
    assert cost(body(count=1, max_run_s=1), cache=cache).maximum == 0.01


def test_tutorials_job_where_aws_lists_its_type_no_more(tmp_path: Path) -> None:
    """4 x ml.p3.16xlarge for 400,000 s: unknown, and not the price of another day or place."""
    for region in ("ap-south-1", "us-east-1", "us-west-2"):
        request = body("ml.p3.16xlarge", max_run_s=400_000, VolumeSizeInGB=100)
        found = sagemaker_cost(request, region=region, today=AS_OF, cache=tmp_path)
        assert (found.per_hour, found.maximum) == (None, None)


def test_same_job_on_todays_default_type_has_a_price(tmp_path: Path) -> None:
    request = body("ml.p4d.24xlarge", max_run_s=400_000)
    found = sagemaker_cost(request, region="ap-south-1", today=AS_OF, cache=tmp_path)
    assert "4 ml.p4d.24xlarge at 30.29606 USD an hour each" in found.assumptions[0]
    # 4 x 30.29606 = 121.18424 an hour; 400,000 s are 111.11 hours.
    assert (found.per_hour, found.maximum) == (121.18424, 13464.92)


def test_a_plan_that_asks_for_a_price_imports_nothing_of_aws() -> None:
    code = (
        "import sys, training.prices.cost; "
        "sys.exit(any(name in sys.modules for name in ('boto3', 'botocore', 'training.aws')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0
