"""On the EKS cluster: a release of charts/stage-data, which is one Kubernetes Job.

The release is named as the run. It is taken away once the run has ended and its log was shown; the
same command with `--name` finds one that goes on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.data.on.errand import Errand
from training.data.on.trip import Show, Trip
from training.data.places import Place
from training.errors import UsageError
from training.kubernetes.helm import template
from training.kubernetes.images import check_image
from training.outputs import KubernetesOutputs, NetworkOutputs, Outputs
from training.platforms.api import Cost
from training.platforms.common.tags import tags
from training.platforms.eks.where import check_namespace, where_is

if TYPE_CHECKING:
    from training.preflight.check import Check
    from training.preflight.job.whereabouts import Whereabouts

READS = (NetworkOutputs, KubernetesOutputs)

CHART = Path(__file__).resolve().parents[3] / "charts" / "stage-data"

_MOUNTS = {Place.EFS: "/efs", Place.FSX: "/fsx"}
"""Where charts/cluster's claims are mounted in every pod."""


def plan(errand: Errand, outputs: Outputs) -> Trip:
    """See `training.data.on.trip.Runner`."""
    cluster, network = outputs.read(KubernetesOutputs), outputs.read(NetworkOutputs)
    where_is(cluster)
    check_namespace(cluster)
    check_image("--image", errand.image)
    if not errand.places:
        raise UsageError(
            "--on eks: is for copies from or to EFS or FSx; S3 alone is reached from anywhere. "
            "Leave --on out, or take sagemaker or ec2"
        )
    values = _values(errand, cluster, network)
    # As a launch does: what the chart does not take is told by the plan.
    template(
        errand.name,
        CHART,
        values,
        namespace=cluster.namespace,
        kube_version=cluster.kubernetes_version,
    )
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    values["job"]["fingerprint"] = hashlib.sha256(text.encode()).hexdigest()
    return Trip(
        where=f"release {errand.name} of chart stage-data on cluster {cluster.cluster_name}, "
        f"namespace {cluster.namespace}",
        name=errand.name,
        request={
            "release": errand.name,
            "namespace": cluster.namespace,
            "chart": "charts/stage-data",
            "values": values,
        },
        cost=Cost(
            per_hour=0.0,
            maximum=0.0,
            assumptions=("it runs on the system nodes, which are paid for in any case",),
        ),
    )


def region(outputs: Outputs) -> str | None:
    """See `training.data.on.trip.Runner`."""
    return where_is(outputs.read(KubernetesOutputs)).region


def checks(errand: Errand, trip: Trip, place: Whereabouts) -> Iterator[Check]:  # noqa: ARG001
    """See `training.data.on.trip.Runner`."""
    from training.data.on.checks import image_check

    if ".dkr.ecr." in errand.image:
        yield image_check(errand, place)


def send(trip: Trip, outputs: Outputs, show: Show) -> None:
    """See `training.data.on.trip.Runner`."""
    from training.data.on.release import Run
    from training.kubernetes.access import cluster_access

    cluster = outputs.read(KubernetesOutputs)
    with cluster_access(cluster) as kubeconfig:
        run = Run(kubeconfig, cluster.namespace, trip.name)
        run.start(CHART, trip.request["values"])
        run.follow(show)


def _values(errand: Errand, cluster: KubernetesOutputs, network: NetworkOutputs) -> dict[str, Any]:
    mounts = {place: _MOUNTS[place] for place in errand.places}
    every_tag = tags({}, project=network.project, job=errand.name, taker="--on eks")
    return {
        "global": {"namespace": cluster.namespace},
        "image": errand.image,
        "args": errand.arguments[1:],  # The chart says `data` itself.
        "serviceAccount": cluster.service_account,
        "volumes": {place.value: place in mounts for place in _MOUNTS},
        "job": {
            "name": errand.name,
            "hyperparameters": errand.told(mounts),
            "max_run_s": errand.max_run_s,
            "tags": {tag["Key"]: tag["Value"] for tag in every_tag},
        },
    }
