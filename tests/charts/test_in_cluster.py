"""What charts find out from the cluster that they are installed in, with the real Helm."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.charts.rendering import run
from tests.kubernetes_server import MPIJOB, KubernetesServer, cluster  # noqa: F401  (a fixture)

Installed = subprocess.CompletedProcess[str]
IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/tensorpack:0123456789ab"


@pytest.fixture
def prepared(cluster: KubernetesServer) -> Iterator[KubernetesServer]:  # noqa: F811
    """A cluster with the operator's kind of object, EFS, and an image of tensorpack."""
    cluster.put(MPIJOB)
    cluster.put(claim("mask-rcnn-efs"))
    cluster.put(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "mask-rcnn-images", "namespace": "kubeflow"},
            "data": {"tensorpack": IMAGE},
        }
    )
    return cluster


def claim(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "kubeflow"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def helm(server: KubernetesServer, *arguments: str) -> Installed:
    return run([*arguments, "--kubeconfig", str(server.kubeconfig)])


def install(server: KubernetesServer, chart: str, *sets: str) -> Installed:
    return helm(
        server, "upgrade", "--install", "job", f"charts/{chart}", *(f"--set={s}" for s in sets)
    )


def test_a_job_on_fsx_is_refused_where_there_is_none(prepared: KubernetesServer) -> None:
    done = install(prepared, "maskrcnn")

    assert done.returncode != 0
    assert "fsx: namespace kubeflow has no volume claim mask-rcnn-fsx" in done.stderr
    assert "--set global.shared_fs=efs" in done.stderr
    assert prepared.names("mpijobs") == prepared.names("networkpolicies") == set()


def test_a_job_on_efs_gets_the_image_that_was_pushed(prepared: KubernetesServer) -> None:
    done = install(prepared, "maskrcnn", "global.shared_fs=efs")

    assert done.returncode == 0, done.stderr
    job = prepared.find("mpijobs", "job")
    assert job is not None
    replicas = job["spec"]["mpiReplicaSpecs"]
    assert [replicas[role]["template"]["spec"]["containers"][0]["image"] for role in replicas] == [
        IMAGE,
        IMAGE,
    ]


def test_a_job_whose_image_nobody_pushed_is_refused(prepared: KubernetesServer) -> None:
    done = install(prepared, "maskrcnn-horovod", "global.shared_fs=efs")

    assert done.returncode != 0
    assert "maskrcnn.image: no image was given, and namespace kubeflow knows none of horovod" in (
        done.stderr
    )
    assert "python -m training.images push --algorithm horovod" in done.stderr


def test_an_upgrade_keeps_the_log_folder(prepared: KubernetesServer) -> None:
    install(prepared, "maskrcnn", "global.shared_fs=efs")
    config = prepared.find("configmaps", "job-job")
    assert config is not None
    # As if it were from another day.
    config["metadata"]["annotations"]["mask-rcnn/log"] = "/efs/maskrcnn-2026-01-01-00-00-00"
    prepared.put(config)

    done = install(prepared, "maskrcnn", "global.shared_fs=efs", "job.retries=1")

    assert done.returncode == 0, done.stderr
    job = prepared.find("mpijobs", "job")
    assert job is not None
    assert job["metadata"]["annotations"]["mask-rcnn/log"] == "/efs/maskrcnn-2026-01-01-00-00-00"
    assert job["spec"]["runPolicy"]["backoffLimit"] == 1


def test_uninstall_leaves_nothing_of_a_release(prepared: KubernetesServer) -> None:
    install(prepared, "maskrcnn", "global.shared_fs=efs")

    done = helm(prepared, "uninstall", "job")

    assert done.returncode == 0, done.stderr
    assert prepared.names("mpijobs") == prepared.names("networkpolicies") == set()
    assert prepared.names("configmaps") == {"mask-rcnn-images"}
    assert prepared.names("persistentvolumeclaims") == {"mask-rcnn-efs"}


def test_attach_starts_a_pod_for_each_file_system_that_there_is(prepared: KubernetesServer) -> None:
    image = f"image={IMAGE}"

    refused = install(prepared, "attach", image)
    done = install(prepared, "attach", image, "volumes.fsx=false")

    assert "--set volumes.fsx=false" in refused.stderr
    assert done.returncode == 0, done.stderr
    assert prepared.names("pods") == {"attach-pvc"}


def test_staging_is_a_job_that_the_cluster_takes(prepared: KubernetesServer) -> None:
    prepared.put(claim("mask-rcnn-fsx"))

    done = install(prepared, "stage-data", f"image={IMAGE}")

    assert done.returncode == 0, done.stderr
    assert prepared.names("jobs") == {"job"}
