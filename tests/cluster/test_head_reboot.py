"""A job goes on after its head was started again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.job import jobs, launch

pytestmark = [
    pytest.mark.root,
    pytest.mark.soak,
    pytest.mark.timeout(900),
]


def test_job_goes_on_from_its_checkpoint_after_a_reboot_of_the_head(
    cluster: Cluster, tmp_path: Path
) -> None:
    job = launch(cluster, "reboot", tmp_path, epochs=5000)
    job.wait_for_step(3)
    (head,) = cluster.instances("head")
    begin = len(job.said())
    reached = job.step
    cluster.aws.client("ec2").reboot_instances(InstanceIds=[head])
    job.wait_for_ranks(2, begin)
    job.wait_for_step(reached + 3)
    assert cluster.instances("head") == [head]
    jobs(cluster, "stop", "reboot")
    assert job.wait_for_end()["status"] == "checkpointed"
