"""The nodes of a job, and the processes on each."""

from __future__ import annotations

from dataclasses import dataclass

from training import algorithms
from training.errors import UsageError
from training.instances import EXCLUDED_FAMILIES, Instance, find_instance, known_instance
from training.job import Job
from training.outputs import ClusterOutputs


@dataclass(frozen=True, kw_only=True)
class Machines:
    """What a job runs on."""

    workers: int
    """Nodes of the worker group that take part."""
    worker_type: str
    worker: Instance | None
    """None where the type has no GPU that this project knows."""
    head_type: str
    head: Instance | None
    """None where the head node only conducts."""
    processes_per_host: int

    @property
    def hosts(self) -> int:
        """How many nodes train: the head too, if it has GPUs."""
        return self.workers + (self.head is not None)

    @property
    def world_size(self) -> int:
        return self.hosts * self.processes_per_host


def machines(job: Job, cluster: ClusterOutputs) -> Machines:
    """Return the nodes that a job asks for, of the types that the cluster has.

    Raises:
        UsageError: A node cannot run so many processes, or its processors cannot train.
    """
    wanted = job.spec.instances
    worker, head = _gpus(cluster.worker_instance_type), _gpus(cluster.head_instance_type)
    _, default_count = algorithms.load(job.spec.algorithm).DEFAULT_INSTANCES
    found = Machines(
        workers=wanted.count or min(default_count, max(1, most_workers(cluster))),
        worker_type=cluster.worker_instance_type,
        worker=worker,
        head_type=cluster.head_instance_type,
        head=head,
        processes_per_host=wanted.processes_per_instance or (worker.gpus if worker else 1),
    )
    for what, instance in (("worker", worker), ("head", head)):
        if instance is not None and found.processes_per_host > instance.gpus:
            raise UsageError(_too_many(found, what, instance))
    return found


def most_workers(cluster: ClusterOutputs) -> int:
    """Return the largest size of the worker group.

    Raises:
        UsageError: The output is no number.
    """
    return cluster.number("most_workers")


def _gpus(instance_type: str) -> Instance | None:
    if instance_type.partition(".")[0] in EXCLUDED_FAMILIES:
        find_instance(instance_type)
    return known_instance(instance_type)


def _too_many(found: Machines, what: str, instance: Instance) -> str:
    said = (
        f"instances.processes_per_instance: {found.processes_per_host}: the {what} node, "
        f"{instance.name}, has {instance.gpus} GPU(s), and each process takes one"
    )
    if what == "worker":
        return f"{said}; at most {instance.gpus}, or leave it out"
    return (
        f"{said}. A head node with GPUs takes part in training, with as many processes as each "
        f"worker: set it to {instance.gpus} or less, or deploy a head without GPU (cdk deploy "
        "ClusterStack -c cluster_head_instance_type=m6i.xlarge)"
    )
