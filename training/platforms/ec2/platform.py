"""Runs a job on the cluster of ClusterStack: a head node that conducts, and worker nodes."""

from __future__ import annotations

from collections.abc import Iterator

from training import algorithms
from training.algorithms.pairings import check_pairing
from training.algorithms.possible import check_possible
from training.job import Job
from training.outputs import (
    ClusterOutputs,
    NetworkOutputs,
    Outputs,
    RegistryOutputs,
    StorageOutputs,
)
from training.platforms.api import Cost, Ending, Launch, Plan, job_name
from training.platforms.common.image import image as image_of
from training.platforms.ec2.machines import Machines, machines
from training.platforms.ec2.request import Ec2Request
from training.platforms.ec2.request_document import request_document
from training.platforms.ec2.where import where_is
from training.preflight.finding import Finding
from training.prices.cache import price_cache
from training.prices.ec2_cost import Nodes, ec2_cost

READS = (NetworkOutputs, StorageOutputs, RegistryOutputs, ClusterOutputs)


def plan(job: Job, outputs: Outputs, launch: Launch) -> Plan:
    """Plan a job for the cluster; see `training.platforms.api.Platform`."""
    cluster, storage = outputs.read(ClusterOutputs), outputs.read(StorageOutputs)
    network = outputs.read(NetworkOutputs)
    on = machines(job, cluster)
    distribution = _distribution(job, on)
    document = request_document(
        job,
        network=network,
        storage=storage,
        cluster=cluster,
        on=on,
        distribution=distribution,
        image=_image(job, outputs, cluster),
        launch=launch,
    )
    place = where_is(cluster)
    request = Ec2Request(
        document=document,
        network=network,
        storage=storage,
        cluster=cluster,
        options=job.spec.ec2,
        on=on,
        account=place.account,
        region=place.region,
        data=_data(job, storage, document["data"]["path"]),
    )
    request.check()
    return Plan(
        platform="ec2",
        algorithm=job.spec.algorithm,
        job_name=job_name(job, launch),
        request=request,
        cost=_cost(job, on, cluster, place.region, launch),
        learning_rates=algorithms.load(job.spec.algorithm).learning_rates(
            job.hyperparameters, world_size=on.world_size
        ),
    )


def check(job: Job, plan: Plan, *, offline: bool) -> Iterator[Finding]:
    """Yield what is wrong with a plan; see `training.platforms.api.Platform`."""
    from training.platforms.ec2 import advice
    from training.preflight import job as of_job

    yield from advice.find(job.spec, _request(plan))
    yield from of_job.find(job, plan, offline=offline)


def submit(job: Job, plan: Plan, *, wait: bool) -> Ending:  # noqa: ARG001
    """Send the request, and follow the job where that is wanted."""
    from training.platforms.ec2.sending import send

    return send(_request(plan), wait=wait)


def _distribution(job: Job, on: Machines) -> algorithms.Distribution:
    """Return what starts the processes, once every node is known to be able to.

    Raises:
        UsageError: The algorithm does not run so, or not on these nodes.
    """
    training_nodes = [on.worker] if on.head is None else [on.head, on.worker]
    for instance in training_nodes:
        distribution = check_pairing(
            algorithm=job.spec.algorithm,
            platform="ec2",
            data_source=job.spec.data_source,
            instance=instance,
            distribution=job.spec.ec2.distribution,
            without_gpu=on.worker_type,
        ).distribution
    check_possible(
        job.spec.algorithm,
        job.hyperparameters,
        distribution=distribution,
        gpus=on.worker.gpus if on.worker else 0,
    )
    return distribution


def _image(job: Job, outputs: Outputs, cluster: ClusterOutputs) -> str | None:
    return image_of(job, outputs, here=False) if cluster.runs_in == "image" else None


def _data(job: Job, storage: StorageOutputs, path: str) -> str:
    if job.spec.data_source == "s3":
        place = f"s3://{storage.bucket_name}/{storage.key(job.spec.channels.train)}"
        return f"{place}, which each node copies to {path} first"
    if job.spec.data_source == "efs":
        return f"EFS {storage.efs_id}, {path}"
    return f"FSx for Lustre {storage.fsx_id}, {path}"


def _cost(job: Job, on: Machines, cluster: ClusterOutputs, region: str, launch: Launch) -> Cost:
    return ec2_cost(
        (
            Nodes(what="worker", type=on.worker_type, count=on.workers),
            Nodes(what="head", type=on.head_type, count=1),
        ),
        max_run_s=job.spec.limits.max_run_s,
        wait_s=job.spec.ec2.workers_wait_s,
        retries=job.spec.retries,
        is_spot=cluster.spot == "true",
        keep_workers=job.spec.ec2.keep_workers,
        region=region,
        today=launch.now.date(),
        cache=price_cache(launch.machine.environ),
    )


def _request(plan: Plan) -> Ec2Request:
    assert isinstance(plan.request, Ec2Request)
    return plan.request
