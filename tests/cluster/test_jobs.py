"""Jobs on the real stack, with the real set-up of its nodes, on hosts of their own."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.job import Job, jobs, launch
from tests.cluster.told import Told
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]

NEXT_STEP_S = 20.0
"""Within which training goes on after a worker was lost (issue 6)."""


@pytest.mark.soak  # what differs from the job below, its end by itself, others show with less
def test_job_starts_its_workers_trains_on_them_and_stops_them(
    cluster: Cluster, tmp_path: Path
) -> None:
    job = launch(cluster, "whole", tmp_path, epochs=2)
    ended = job.wait_for_end()
    assert ended["status"] == "completed", ended
    # 16 pictures, 2 on each of 2 hosts at a time.
    assert [each["step"] for each in job.metrics()] == list(range(1, 9))
    assert job.metrics("evaluation")
    assert (job.folder / "report.html").exists()
    wait_for_no_workers(cluster)


def test_job_starts_its_workers_survives_the_loss_of_one_and_stops_them(
    cluster: Cluster, told: Told, tmp_path: Path
) -> None:
    job = launch(cluster, "long", tmp_path, epochs=5000)
    job.wait_for_step(3)
    begin = len(job.said())
    (lost, kept) = cluster.instances("worker")
    killed_s = time.time()
    cluster.kill(lost)
    after = wait_for(
        lambda: [each for each in job.metrics() if each["time_s"] > killed_s + 1.0],
        "a step without the lost worker",
        120.0,
    )
    waited_s = after[0]["time_s"] - killed_s
    # The group makes another, which joins.
    job.wait_for_ranks(2, begin)
    assert lost not in cluster.instances("worker")
    assert kept in cluster.instances("worker")
    job.wait_for_step(job.step + 1)
    assert "2 ranks (horovod)" in jobs(cluster, "logs", "long")
    stop(job)
    wait_for(lambda: told.of("long") == ["started", "stopped"], "what is told of the job", 30.0)
    listed = json.loads(jobs(cluster, "list", "--format", "json"))["jobs"]
    assert "long" in [each["name"] for each in listed]
    assert (job.folder / "report.html").exists()
    assert waited_s < NEXT_STEP_S


@pytest.mark.soak
def test_job_survives_the_loss_of_the_head(cluster: Cluster, tmp_path: Path) -> None:
    job = launch(cluster, "headless", tmp_path, epochs=5000)
    job.wait_for_step(3)
    # A new head goes on from the last checkpoint, with the same workers.
    (head,) = cluster.instances("head")
    workers = cluster.instances("worker")
    reached = job.step
    begin = len(job.said())
    cluster.kill(head)
    job.wait_for_ranks(2, begin)
    job.wait_for_step(reached + 3)
    assert cluster.instances("head") != [head]
    assert cluster.instances("worker") == workers
    stop(job)


def stop(job: Job) -> None:
    """Stop a job; each step was taken, and its workers go."""
    jobs(job.cluster, "stop", job.name)
    ended = job.wait_for_end()
    assert ended["status"] in ("stopped", "checkpointed"), ended
    steps = [each["step"] for each in job.metrics()]
    assert sorted(set(steps)) == list(range(1, max(steps) + 1))
    wait_for_no_workers(job.cluster)


def wait_for_no_workers(cluster: Cluster) -> None:
    wait_for(lambda: cluster.group("worker")["DesiredCapacity"] == 0, "the size of nothing", 30.0)
    # The group ends them in its own time.
    wait_for(lambda: cluster.instances("worker") == [], "the workers' end", 60.0)


@pytest.mark.soak  # it waits a minute for workers that do not come
def test_job_without_enough_workers_fails_with_the_groups_reason(
    cluster: Cluster, tmp_path: Path
) -> None:
    ssm = cluster.aws.client("ssm")
    limit = "/localaws/capacity/m6i.2xlarge"
    ssm.put_parameter(Name=limit, Type="String", Value="1")
    try:
        job = launch(cluster, "few", tmp_path, epochs=2, least_workers=2, workers_wait_s=60)
        ended = job.wait_for_end()
    finally:
        ssm.delete_parameter(Name=limit)
    assert ended["status"] == "failed", ended
    assert "1 of 2 workers" in ended["message"]
    assert "InsufficientInstanceCapacity" in ended["message"] or "capacity" in ended["message"]
    wait_for(lambda: cluster.group("worker")["DesiredCapacity"] == 0, "the old size", 30.0)


@pytest.mark.soak
def test_health_looks_at_every_node(cluster: Cluster) -> None:
    cluster.resize(1)
    cluster.wait_for_nodes(1)
    (worker,), (head,) = cluster.instances("worker"), cluster.instances("head")
    try:
        said = jobs(cluster, "health", "--format", "json", "--no-all-reduce")
    finally:
        cluster.resize(0)
    assert {worker, head} <= {node["instance_id"] for node in json.loads(said)["nodes"]}
