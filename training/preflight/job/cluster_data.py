"""The checks of a job's data and logs on nodes of a cluster of one's own, EC2's or EKS's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from training import algorithms
from training.outputs import StorageOutputs
from training.preflight.check import Check
from training.preflight.job.asked import S3Place
from training.preflight.job.data import DataIsOnS3
from training.preflight.job.efs import JobsReachEfs
from training.preflight.job.lustre import JobsReachLustre, LustreIsLinked
from training.preflight.job.whereabouts import Whereabouts
from training.preflight.peers import Members

if TYPE_CHECKING:
    from training.job import Job


def of_data(
    job: Job, storage: StorageOutputs, nodes: Members, place: Whereabouts
) -> Iterator[Check]:
    """Yield the checks of where the nodes read and write.

    Args:
        nodes: The security group and subnets of those that read it.
    """
    clients = place.clients
    # Wherever the data is, logs and checkpoints are on EFS.
    yield JobsReachEfs(clients.ec2, clients.efs, storage.efs_id, nodes)
    source, train = job.spec.data_source, job.spec.channels.train
    if source == "fsx":
        lustre = storage.lustre(asked_by="data_source: fsx")
        path = "/".join(("", lustre.mount_name, lustre.data_path.strip("/"), train))
        yield JobsReachLustre(clients.ec2, clients.fsx, lustre.id, path, nodes)
        yield LustreIsLinked(clients.fsx, lustre.id, path, train)
    if source == "s3":
        algorithm = algorithms.load(job.spec.algorithm)
        yield DataIsOnS3(
            algorithm.splits(job.hyperparameters),
            dict(algorithm.weight_files(job.hyperparameters)),
            algorithm.READS_RECORDS,
            source,
            train,
            clients.s3,
            S3Place(storage.bucket_name, storage.key(train)),
        )
