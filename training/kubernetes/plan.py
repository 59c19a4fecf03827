"""What `install` sends to the cluster, worked out from the stacks' outputs alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.kubernetes import operator
from training.kubernetes.access import region_of
from training.kubernetes.client import Object
from training.kubernetes.helm import template
from training.kubernetes.images import Image
from training.layout import LOG_ROOT, TRAIN_PATH
from training.outputs import (
    KubernetesOutputs,
    NetworkOutputs,
    Outputs,
    RegistryOutputs,
    StorageOutputs,
)

RELEASE = "mask-rcnn-cluster"
NAMESPACE = "kube-system"
"""Of the release, which makes the namespace of the jobs and so cannot be in it."""
CHARTS = Path(__file__).resolve().parents[2] / "charts"
CHART = CHARTS / "cluster"
READS = (NetworkOutputs, StorageOutputs, RegistryOutputs, KubernetesOutputs)


@dataclass(frozen=True)
class Installation:
    """Everything that is sent."""

    cluster: KubernetesOutputs
    values: Mapping[str, Any]
    """Of the chart."""
    operator: Sequence[Object]
    images: Sequence[Image]

    def manifest(self) -> str:
        """Return the chart's objects, as helm renders them."""
        return template(
            RELEASE,
            CHART,
            self.values,
            namespace=NAMESPACE,
            kube_version=self.cluster.kubernetes_version,
        )

    def volume_handle(self, file_system: str) -> str | None:
        """Return by what the driver knows a file system, `efs` or `fsx`; None: there is none."""
        found = self.values[file_system]
        if file_system == "efs":
            return f"{found['fileSystemId']}::{found['accessPointId']}"
        return found["id"] or None

    def to_json(self) -> dict[str, Any]:
        return {
            "release": RELEASE,
            "namespace": NAMESPACE,
            "values": dict(self.values),
            "manifest": self.manifest(),
            "mpi_operator": {
                "version": operator.VERSION,
                "address": operator.ADDRESS,
                "sha256": operator.SHA256,
                "objects": list(self.operator),
            },
        }


def plan(
    outputs: Outputs,
    images: Sequence[Image],
    manifest: str,
    *,
    autoscaler: bool = True,
) -> Installation:
    """Return what is sent; nothing happens.

    Args:
        outputs: Of the stacks in `READS`.
        images: `training.kubernetes.images.chosen`.
        manifest: MPI Operator's, as its authors wrote it.
        autoscaler: Whether GPU nodes come and go by themselves.

    Raises:
        UsageError: An output is missing.
    """
    cluster = outputs.read(KubernetesOutputs)
    network = outputs.read(NetworkOutputs)
    storage = outputs.read(StorageOutputs)
    values = {
        "cluster": {"name": cluster.cluster_name, "region": region_of(cluster)},
        "namespace": cluster.namespace,
        "serviceAccount": cluster.service_account,
        "efs": {"fileSystemId": storage.efs_id, "accessPointId": cluster.efs_access_point_id},
        "fsx": _fsx(storage),
        "efa": cluster.efa == "true",
        "autoscaler": {
            "enabled": autoscaler,
            # Types and prices are public addresses, which a VPC without internet cannot reach.
            "staticInstanceTypes": not network.public_subnet_ids,
        },
        "jobImages": job_images(outputs.read(RegistryOutputs)),
        "images": {image.value: image.address for image in images if image.value},
    }
    address = next(image.address for image in images if image.name == "mpi-operator")
    return Installation(cluster, values, operator.objects(manifest, address), images)


def _fsx(storage: StorageOutputs) -> dict[str, Any]:
    if storage.fsx_id is None:
        return {"id": ""}
    lustre = storage.lustre(asked_by="training.kubernetes")
    base = lustre.data_path.strip("/")
    return {
        "id": lustre.id,
        "dnsName": lustre.dns_name,
        "mountName": lustre.mount_name,
        "folders": [
            "/".join(part for part in (base, path) if part)
            for path in (str(Path(TRAIN_PATH).parent), TRAIN_PATH, LOG_ROOT)
        ],
    }


def job_images(registry: RegistryOutputs) -> dict[str, str]:
    """Return the images of jobs by algorithm, as these sources make them, for the charts."""
    from training import algorithms
    from training.images.recipes import RECIPES
    from training.images.tag import image_tag

    found = {}
    for name in ("horovod", "tensorpack", "aws-samples"):
        repository = getattr(registry, algorithms.load(name).REPOSITORY)
        found[name] = f"{repository}:{image_tag(name)}"
    if "notebook" in (*RECIPES["horovod"].variants, *RECIPES["horovod"].apart):
        repository = registry.horovod_repository_uri
        found["notebook"] = f"{repository}:{image_tag('horovod', variant='notebook')}"
    return found
