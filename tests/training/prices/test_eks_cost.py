"""What a job on the EKS cluster costs: system nodes and control plane included, unknown never 0."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from stacks.settings import Settings
from training.platforms.api import Cost
from training.prices.eks_cost import SYSTEM_NODES_AT_MOST, Cluster, eks_cost

TODAY = date(2026, 11, 28)


def cost(cache: Path, gpu_type: str = "p3.16xlarge", **changes: Any) -> Cost:
    options: dict[str, Any] = {
        "gpu_nodes": 2,
        "max_run_s": 172_800,
        "wait_s": 1800,
        "retries": 0,
        "region": "us-east-1",
        "today": TODAY,
        **changes,
    }
    cluster = Cluster(
        partition=options.pop("partition", "aws"),
        gpu_type=gpu_type,
        is_spot=options.pop("is_spot", False),
        system_type="m6i.xlarge",
        system_nodes=2,
        volume_gib=200,
    )
    return eks_cost(cluster, cache=cache, **options)


def test_two_p3_16xlarge_with_the_clusters_own_at_awss_list_price(tmp_path: Path) -> None:
    found = cost(tmp_path)
    # 2 x 24.48 + 2 x 0.192 + 0.10; at most 2 x 0.192 more, for 48 hours, half an hour and twenty
    # minutes.
    assert found.per_hour == 49.444
    assert found.maximum == 2433.27
    assert (found.price_age_days, found.price_region) == (65, "us-east-1")
    said = "\n".join(found.assumptions)
    assert "2 p3.16xlarge (GPU node) at 24.48 USD an hour each, on demand in us-east-1" in said
    assert "2 m6i.xlarge (system node) at 0.192 USD" in said
    assert "the control plane at 0.10 USD an hour, in standard support" in said
    assert "at most 1,800 s of waiting for nodes and 172,800 s of the job, and 1,200 s" in said
    assert "are paid for between jobs, too, until the stack is destroyed" in said
    assert "left out: EBS of each node (200 GiB of a GPU node), S3, EFS or FSx" in said


def test_the_autoscaler_may_add_as_many_system_nodes_as_the_stack_lets_it() -> None:
    settings = Settings.from_context({}).kubernetes
    assert settings.most_system_nodes == SYSTEM_NODES_AT_MOST * settings.system_nodes


def test_retries_are_within_the_same_time_limit(tmp_path: Path) -> None:
    assert cost(tmp_path, retries=5).maximum == cost(tmp_path).maximum
    assert "5 retries included" in " ".join(cost(tmp_path, retries=5).assumptions)


def test_a_price_that_no_list_has_is_unknown_and_what_is_known_is_said(tmp_path: Path) -> None:
    found = cost(tmp_path, gpu_type="p6-b300.48xlarge")
    assert (found.per_hour, found.maximum, found.price_age_days) == (None, None, None)
    said = "\n".join(found.assumptions)
    assert "2 m6i.xlarge (system node) at 0.192 USD" in said
    assert "no price of p6-b300.48xlarge in us-east-1 is known here" in said
    assert "the job takes 2 of it (GPU node)" in said


def test_another_regions_or_partitions_price_is_never_taken(tmp_path: Path) -> None:
    assert cost(tmp_path, region="eu-west-1").per_hour is None
    found = cost(tmp_path, partition="aws-us-gov")
    assert (found.per_hour, found.maximum) == (None, None)
    assert "what the control plane costs in us-east-1 is not known here" in found.assumptions


def test_spot_nodes_cost_at_most_what_they_do_on_demand(tmp_path: Path) -> None:
    found = cost(tmp_path, is_spot=True)
    assert found.maximum == cost(tmp_path).maximum
    assert any("spot instances: less, by how much" in each for each in found.assumptions)
