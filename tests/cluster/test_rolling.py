"""A new AMI rolls real nodes, each with its whole set-up, and leaves the data as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from localaws.hosts import requirements
from tests.cluster.cluster import Cluster, running_cluster

pytestmark = [
    pytest.mark.root,
    pytest.mark.soak,
    pytest.mark.timeout(900),
]


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster whose nodes no other test needs to find again."""
    if lacking := requirements.missing():
        pytest.skip(lacking)
    with running_cluster(tmp_path, {}) as running:
        running.wait_for_nodes(0)
        yield running


def test_a_new_ami_replaces_head_and_workers_one_by_one_and_no_file(
    own_cluster: Cluster, tmp_path: Path
) -> None:
    own_cluster.resize(2)
    own_cluster.wait_for_nodes(2)
    before = own_cluster.instances("head") + own_cluster.instances("worker")
    ec2 = own_cluster.aws.client("ec2")
    used = {image_of(ec2, instance) for instance in before}
    other = next(
        image["ImageId"]
        for image in ec2.describe_images(Owners=["amazon", "self"])["Images"]
        if image["ImageId"] not in used and image["Architecture"] == "x86_64"
    )
    (own_cluster.efs / "mine").write_text("kept", encoding="utf-8")
    own_cluster.update(tmp_path / "again", cluster_ami=other)
    own_cluster.wait_for_nodes(2)
    after = own_cluster.instances("head") + own_cluster.instances("worker")
    assert len(after) == len(before) == 3
    assert not set(after) & set(before)
    assert {image_of(ec2, instance) for instance in after} == {other}
    assert (own_cluster.efs / "mine").read_text(encoding="utf-8") == "kept"


def image_of(ec2: object, instance_id: str) -> str:
    found = ec2.describe_instances(InstanceIds=[instance_id])  # type: ignore[attr-defined]
    return str(found["Reservations"][0]["Instances"][0]["ImageId"])
