"""The GPU nodes of a job, and the processes on each."""

from __future__ import annotations

from dataclasses import dataclass

from training import algorithms
from training.errors import UsageError
from training.instances import Instance, find_instance
from training.job import Job
from training.outputs import KubernetesOutputs


@dataclass(frozen=True, kw_only=True)
class Machines:
    """What a job runs on: a node for each worker pod; the launcher pod is on a system node."""

    workers: int
    type: str
    instance: Instance
    processes_per_node: int

    @property
    def world_size(self) -> int:
        return self.workers * self.processes_per_node


def machines(job: Job, cluster: KubernetesOutputs) -> Machines:
    """Return the nodes that a job asks for, of the type that the cluster's GPU nodes have.

    Raises:
        UsageError: There is no such type, the nodes have no GPU, or cannot run so many processes.
    """
    wanted = job.spec.instances
    if wanted.type is not None:
        _require_known(wanted.type)
    instance = _of_nodes(cluster)
    _, default_count = algorithms.load(job.spec.algorithm).DEFAULT_INSTANCES
    found = Machines(
        workers=wanted.count or min(default_count, max(1, most_nodes(cluster))),
        type=cluster.gpu_instance_type,
        instance=instance,
        processes_per_node=wanted.processes_per_instance or instance.gpus,
    )
    if found.processes_per_node > instance.gpus:
        raise UsageError(
            f"instances.processes_per_instance: {found.processes_per_node}: the GPU nodes, "
            f"{instance.name}, have {instance.gpus} GPU(s) each, and each process takes one; at "
            f"most {instance.gpus}, or leave it out"
        )
    return found


def most_nodes(cluster: KubernetesOutputs) -> int:
    """Return the largest size of the GPU node group.

    Raises:
        UsageError: The output is no number.
    """
    return cluster.number("most_gpu_nodes")


def _of_nodes(cluster: KubernetesOutputs) -> Instance:
    try:
        return find_instance(cluster.gpu_instance_type)
    except UsageError as error:
        raise UsageError(
            f"{cluster.STACK}.GpuInstanceType: {error}. Deploy it with another: cdk deploy "
            f"{cluster.STACK} -c eks_gpu_instance_type=..."
        ) from error


def _require_known(name: str) -> None:
    try:
        find_instance(name)
    except UsageError as error:
        raise UsageError(f"instances.type: {error}") from error
