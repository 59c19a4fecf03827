"""An AWS in this process, and a cluster with all that a job needs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubernetes_server import MPIJOB, KubernetesServer, cluster
from tests.training.platforms.eks.conftest import claim
from tests.training.platforms.eks.planning import outputs
from tests.training.preflight.stacks.conftest import (
    aws,
    clients,
    network,
    session,
    stub,
    stubbed_clients,
)
from training.outputs import KubernetesOutputs
from training.preflight.job.eks.inside import Inside

__all__ = ["aws", "clients", "cluster", "network", "session", "stub", "stubbed_clients"]

EFS = "fs-0123456789abcdef0"


@pytest.fixture
def inside(cluster: KubernetesServer, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """What the checks ask: a cluster where the install command has run."""
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    cluster.put(served("v2beta1"))
    for name, kind in (("mpi-operator", "Deployment"), ("nvidia-device-plugin", "DaemonSet")):
        cluster.put(workload(name, kind))
    cluster.put(named("ServiceAccount", "mask-rcnn"))
    cluster.put({**claim("mask-rcnn-efs"), "status": {"phase": "Bound"}})
    cluster.put(volume("mask-rcnn-efs", f"{EFS}::fsap-0123456789abcdef0"))
    return Inside(outputs().read(KubernetesOutputs))


def served(version: str) -> dict[str, Any]:
    versions = [{**each, "name": version, "served": True} for each in MPIJOB["spec"]["versions"]]
    return {**MPIJOB, "spec": {**MPIJOB["spec"], "versions": versions}}


def named(kind: str, name: str, **parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **parts}


def workload(name: str, kind: str) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"containers": [{"name": name, "image": f"registry/{name}:1"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def volume(name: str, handle: str) -> dict[str, Any]:
    return named(
        "PersistentVolume",
        name,
        spec={
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": "efs.csi.aws.com", "volumeHandle": handle},
        },
    )
