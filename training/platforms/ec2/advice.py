"""What stands against a plan for the cluster, as far as the stacks' outputs tell."""

from __future__ import annotations

from collections.abc import Iterator

from training.job import JobSpec
from training.outputs import ClusterOutputs
from training.platforms.common.secrets import secret_names
from training.platforms.ec2.machines import Machines, most_workers
from training.platforms.ec2.request import Ec2Request
from training.preflight.finding import Finding


def find(spec: JobSpec, request: Ec2Request) -> Iterator[Finding]:
    """Yield what is wrong, or should be known, before a request is sent."""
    cluster, on = request.cluster, request.on
    yield from _too_many_workers(on, cluster)
    yield from _other_type(spec, cluster)
    yield from _in_the_environment(spec, cluster)
    yield from _idle(on)
    yield from _without_gpus(on)
    yield from _spot(spec, cluster, str(request.document["distribution"]))
    yield from _secrets(spec, request)


def _too_many_workers(on: Machines, cluster: ClusterOutputs) -> Iterator[Finding]:
    most = most_workers(cluster)
    if on.workers > most:
        yield Finding(
            "workers-over-most",
            "error",
            f"instances.count: {on.workers}: the cluster has at most {most} workers. Take {most} "
            f"or fewer, or raise it: cdk deploy {cluster.STACK} -c cluster_max_workers="
            f"{on.workers}",
            "instances.count",
        )


def _other_type(spec: JobSpec, cluster: ClusterOutputs) -> Iterator[Finding]:
    wanted, there = spec.instances.type, cluster.worker_instance_type
    if wanted is not None and wanted.removeprefix("ml.") != there:
        yield Finding(
            "instance-type-not-the-clusters",
            "error",
            f"instances.type: {wanted}: the cluster's workers are {there}, and a job takes what is "
            "there. Leave it out, or change the workers: cdk deploy "
            f"{cluster.STACK} -c cluster_worker_instance_type={wanted.removeprefix('ml.')}",
            "instances.type",
        )


def _in_the_environment(spec: JobSpec, cluster: ClusterOutputs) -> Iterator[Finding]:
    if cluster.runs_in != "environment":
        return
    if spec.algorithm != "horovod":
        yield Finding(
            "environment-without-algorithm",
            "error",
            f"algorithm: {spec.algorithm}: the cluster's nodes run jobs in their own environment, "
            "which holds horovod alone. Take that, or deploy nodes that run images: cdk deploy "
            f"{cluster.STACK} -c cluster_runs_in=image",
            "algorithm",
        )
    if spec.image is not None:
        yield Finding(
            "image-not-used",
            "warning",
            "image: the cluster's nodes run jobs in their own environment "
            "(cluster_runs_in=environment), so that no image is used",
            "image",
        )


def _idle(on: Machines) -> Iterator[Finding]:
    nodes = ((on.worker, "worker"), (on.head, "head"))
    for instance, what in nodes:
        if instance is not None and on.processes_per_host < instance.gpus:
            idle = instance.gpus - on.processes_per_host
            yield Finding(
                "gpus-idle",
                "warning",
                f"instances.processes_per_instance: {on.processes_per_host}: each {what} node, "
                f"{instance.name}, has {instance.gpus} GPUs, and {idle} of them would do nothing "
                "and be paid for",
                "instances.processes_per_instance",
            )


def _without_gpus(on: Machines) -> Iterator[Finding]:
    if on.worker is None:
        yield Finding(
            "workers-without-gpu",
            "warning",
            f"the cluster's workers, {on.worker_type}, have no GPU that this project knows: the "
            f"job trains on their CPUs, with {on.processes_per_host} process(es) on each",
            "instances.type",
        )


def _spot(spec: JobSpec, cluster: ClusterOutputs, distribution: str) -> Iterator[Finding]:
    is_spot = cluster.spot == "true"
    if spec.spot.enabled and not is_spot:
        yield Finding(
            "spot-without-spot-workers",
            "warning",
            "spot.enabled: the cluster's workers are on demand, whatever the job says, and are "
            f"paid for so. For spot workers: cdk deploy {cluster.STACK} -c cluster_spot=true",
            "spot.enabled",
        )
    if spec.spot.max_wait_s is not None:
        yield Finding(
            "spot-wait-not-used",
            "warning",
            "spot.max_wait_s: a cluster does not know it; ec2.workers_wait_s says how long the job "
            "waits for its workers",
            "spot.max_wait_s",
        )
    if is_spot and distribution != "elastic" and spec.retries == 0:
        yield Finding(
            "spot-without-retries",
            "warning",
            "retries: 0: the cluster's workers are spot instances, and the first that AWS takes "
            "back ends the job, which can be resumed by hand. Set retries (up to 30), or take "
            "distribution elastic where the algorithm has it",
            "retries",
        )


def _secrets(spec: JobSpec, request: Ec2Request) -> Iterator[Finding]:
    names = secret_names(spec.environment)
    if names:
        history = (
            ""
            if request.is_over_ssh
            else ("in Systems Manager's history of commands, where AWS keeps it for 30 days, and ")
        )
        yield Finding(
            "secret-in-environment",
            "warning",
            f"environment.{names[0]}: it looks like a secret, and whoever may look can read it "
            f"{history}in the job's folder on EFS. Let the job fetch it from Secrets Manager "
            "instead",
            f"environment.{names[0]}",
        )
