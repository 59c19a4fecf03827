"""One cluster for all tests: it takes half a minute to deploy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from localaws.hosts import requirements
from tests.cluster.cluster import Cluster, running_cluster
from tests.cluster.told import Told, listen
from tests.training.conftest import shapes  # noqa: F401  a fixture


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, shapes: Path) -> Iterator[Cluster]:  # noqa: F811
    """A head, no worker, and shapes on EFS."""
    if lacking := requirements.missing():
        pytest.skip(lacking)
    somebody_is_told = {"notify_emails": "jo@example.org"}
    with running_cluster(tmp_path_factory.mktemp("cluster"), somebody_is_told) as running:
        shutil.copytree(shapes, running.efs / "mask-rcnn/sagemaker/input/train")
        (running.efs / "mask-rcnn/sagemaker/output").mkdir(parents=True)
        running.wait_for_nodes(0)
        yield running


@pytest.fixture(scope="session")
def told(cluster: Cluster) -> Told:
    """What is told of its jobs."""
    return listen(cluster.aws)
