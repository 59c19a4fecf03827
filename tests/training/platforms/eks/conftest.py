"""A cluster for the tests: an API server, the real helm and kubectl, and a small operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes_server import MPIJOB, KubernetesServer, cluster
from tests.training.platforms.eks.small_operator import SmallOperator, operating
from training.kubernetes.client import Kubernetes
from training.kubernetes.helm import Helm
from training.platforms.eks.connection import Connection

__all__ = ["cluster"]


@pytest.fixture
def connection(cluster: KubernetesServer) -> Connection:
    """What asks the cluster, which knows MPIJobs and has the claims of EFS and FSx."""
    cluster.put(MPIJOB)
    for name in ("mask-rcnn-efs", "mask-rcnn-fsx"):
        cluster.put(claim(name))
    return Connection(
        Kubernetes(cluster.kubeconfig, "kubeflow"), Helm(cluster.kubeconfig, "kubeflow")
    )


def claim(name: str) -> dict[str, Any]:
    """Return a claim of charts/cluster."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "kubeflow"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": name,
        },
    }


@pytest.fixture
def operator(cluster: KubernetesServer, connection: Connection) -> Iterator[SmallOperator]:
    """What makes pods there."""
    with operating(cluster) as found:
        yield found
