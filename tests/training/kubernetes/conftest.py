"""Fixtures of the tests of `training.kubernetes`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubernetes_server import KubernetesServer, cluster
from tests.training.kubernetes.in_cluster import InCluster

__all__ = ["cluster"]


@pytest.fixture
def inside(
    cluster: KubernetesServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InCluster:
    """The commands, with a server that has what EKS brings along."""
    for name in ("efs.csi.aws.com", "fsx.csi.aws.com"):
        driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "spec": {}}
        cluster.put({**driver, "metadata": {"name": name}})
    for name in ("system-1", "system-2"):
        cluster.put(node(name, "system"))
    return InCluster(cluster, tmp_path, monkeypatch, capsys)


def node(name: str, label: str, **allocatable: str) -> dict[str, object]:
    """Return a node that is ready."""
    labels = {"mask-rcnn/node": label, "node.kubernetes.io/instance-type": "p4d.24xlarge"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": allocatable,
        },
    }
