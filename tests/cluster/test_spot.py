"""AWS takes a worker of a running job back."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.job import jobs, launch
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.root,
    pytest.mark.soak,
    pytest.mark.timeout(900),
]


def test_training_leaves_a_worker_that_is_taken_back_and_takes_in_the_next(
    cluster: Cluster, tmp_path: Path
) -> None:
    job = launch(cluster, "spot", tmp_path, epochs=5000)
    job.wait_for_step(3)
    begin = len(job.said())
    (taken, kept) = cluster.instances("worker")
    nodes = cluster.efs / "mask-rcnn/clusters" / cluster.outputs["ClusterName"] / "nodes"
    noticed_s = time.time()
    cluster.notify_spot(taken)

    def state() -> str:
        return str(json.loads((nodes / f"{taken}.json").read_text("utf-8"))["state"])

    wait_for(lambda: state() == "leaving", "the register's word", 30.0)
    job.wait_for_ranks(1, begin)
    # Long before the two minutes are over, so that nothing is cut short.
    assert time.time() - noticed_s < 60
    reached = job.step
    cluster.aws.client("ec2").terminate_instances(InstanceIds=[taken])
    job.wait_for_ranks(2, begin)
    job.wait_for_step(reached + 3)
    workers = cluster.instances("worker")
    assert kept in workers
    assert taken not in workers
    steps = [each["step"] for each in job.metrics()]
    assert sorted(set(steps)) == list(range(1, max(steps) + 1))
    status = job.status()
    assert (status["status"], status.get("restarts", 0)) == ("running", 0), status
    jobs(cluster, "stop", "spot")
    assert job.wait_for_end()["status"] == "checkpointed"
