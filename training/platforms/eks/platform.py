"""Runs a job on the cluster of KubernetesStack: one release of a chart, one MPIJob."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from training import algorithms
from training.algorithms.pairings import check_pairing
from training.algorithms.possible import check_possible
from training.job import Job
from training.kubernetes.images import check_image
from training.outputs import (
    KubernetesOutputs,
    NetworkOutputs,
    Outputs,
    RegistryOutputs,
    StorageOutputs,
)
from training.platforms.api import Cost, Ending, Launch, Plan, job_id, job_name
from training.platforms.common.image import image as image_of
from training.platforms.eks.charts import FOLDER, chart_of
from training.platforms.eks.machines import Machines, machines
from training.platforms.eks.names import check_name
from training.platforms.eks.places import Places, places_of
from training.platforms.eks.request import EksRequest
from training.platforms.eks.values import values_of
from training.platforms.eks.where import check_namespace, where_is
from training.preflight.finding import Finding
from training.prices.cache import price_cache
from training.prices.eks_cost import Cluster, eks_cost

READS = (NetworkOutputs, StorageOutputs, RegistryOutputs, KubernetesOutputs)


def plan(job: Job, outputs: Outputs, launch: Launch) -> Plan:
    """Plan a job for the cluster; see `training.platforms.api.Platform`."""
    cluster, storage = outputs.read(KubernetesOutputs), outputs.read(StorageOutputs)
    network = outputs.read(NetworkOutputs)
    name = job_name(job, launch)
    check_name(name)
    check_namespace(cluster)
    on = machines(job, cluster)
    distribution = _distribution(job, on)
    # Before the chart is asked, which would refuse a number of GPUs in words of its own.
    learning_rates = algorithms.load(job.spec.algorithm).learning_rates(
        job.hyperparameters, world_size=on.world_size
    )
    places = places_of(job, storage, run_name=f"log-{job_id(job, launch)}")
    image = image_of(job, outputs, here=False)
    check_image("image", image)
    values = values_of(
        job,
        network=network,
        cluster=cluster,
        on=on,
        distribution=distribution,
        image=image,
        copier=_copier(job, outputs, places, image),
        places=places,
        launch=launch,
    )
    where = where_is(cluster)
    chart = chart_of(job.spec.algorithm)
    return Plan(
        platform="eks",
        algorithm=job.spec.algorithm,
        job_name=name,
        request=EksRequest(
            chart=chart,
            values=values,
            manifest=_render(name, chart, values, cluster),
            network=network,
            storage=storage,
            cluster=cluster,
            options=job.spec.eks,
            on=on,
            places=places,
            account=where.account,
            region=where.region,
            resume=launch.resume,
        ),
        cost=_cost(job, on, cluster, where.region, launch),
        learning_rates=learning_rates,
    )


def check(job: Job, plan: Plan, *, offline: bool) -> Iterator[Finding]:
    """Yield what is wrong with a plan; see `training.platforms.api.Platform`."""
    from training.platforms.eks import advice
    from training.preflight import job as of_job

    yield from advice.find(job.spec, _request(plan))
    yield from of_job.find(job, plan, offline=offline)


def submit(job: Job, plan: Plan, *, wait: bool) -> Ending:  # noqa: ARG001
    """Make the release, and follow the job where that is wanted."""
    from training.platforms.eks.sending import send

    return send(_request(plan), wait=wait)


def _distribution(job: Job, on: Machines) -> algorithms.Distribution:
    """Return what starts the processes, once the nodes are known to be able to.

    Raises:
        UsageError: The algorithm does not run so, or not on these nodes.
    """
    distribution = check_pairing(
        algorithm=job.spec.algorithm,
        platform="eks",
        data_source=job.spec.data_source,
        instance=on.instance,
        distribution=job.spec.eks.distribution,
    ).distribution
    check_possible(
        job.spec.algorithm,
        job.hyperparameters,
        distribution=distribution,
        gpus=on.instance.gpus,
    )
    return distribution


def _copier(job: Job, outputs: Outputs, places: Places, image: str) -> str:
    """Return the image that copies data from S3: ours, which has the programs for it."""
    if not places.is_copied or job.spec.algorithm == "horovod":
        return image
    from training.images.tag import image_tag

    repository = outputs.read(RegistryOutputs).horovod_repository_uri
    return f"{repository}:{image_tag('horovod')}"


def _render(release: str, chart: str, values: Mapping[str, Any], cluster: KubernetesOutputs) -> str:
    """Return what helm would send.

    Raises:
        UsageError: helm is not there, or the chart takes no such values.
    """
    from training.kubernetes.helm import template

    return template(
        release,
        FOLDER / chart,
        values,
        namespace=cluster.namespace,
        kube_version=cluster.kubernetes_version,
    )


def _cost(job: Job, on: Machines, cluster: KubernetesOutputs, region: str, launch: Launch) -> Cost:
    return eks_cost(
        Cluster.of(cluster),
        gpu_nodes=on.workers,
        max_run_s=job.spec.limits.max_run_s,
        wait_s=job.spec.eks.workers_wait_s,
        retries=job.spec.retries,
        region=region,
        today=launch.now.date(),
        cache=price_cache(launch.machine.environ),
    )


def _request(plan: Plan) -> EksRequest:
    assert isinstance(plan.request, EksRequest)
    return plan.request
