"""The request that the head node's program reads; node/conductor/request.py is its other side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from training.algorithms import Distribution
from training.errors import UsageError
from training.hyperparameter_text import to_texts
from training.job import Job
from training.outputs import ClusterOutputs, NetworkOutputs, StorageOutputs
from training.platforms.api import Launch, job_id, job_name
from training.platforms.common.tags import tags
from training.platforms.common.variables import MAX_VARIABLES, check_variables
from training.platforms.ec2.limits import check_limits
from training.platforms.ec2.machines import Machines
from training.platforms.ec2.places import data_place, log_place

VERSION = 1


def request_document(
    job: Job,
    *,
    network: NetworkOutputs,
    storage: StorageOutputs,
    cluster: ClusterOutputs,
    on: Machines,
    distribution: Distribution,
    image: str | None,
    launch: Launch,
) -> dict[str, Any]:
    """Return the request as plain JSON values.

    Hyperparameters are texts, as SageMaker passes them: docker/entrypoint reads nothing else.

    Args:
        image: None where the job runs in the nodes' own environment.

    Raises:
        UsageError: The nodes could not run such a job.
    """
    spec, options = job.spec, job.spec.ec2
    name = job_name(job, launch)
    check_variables(spec.environment, room=MAX_VARIABLES, taker="platform ec2")
    every_tag = tags(spec.tags, project=network.project, job=name, taker="platform ec2")
    document = {
        "version": VERSION,
        "name": name,
        "algorithm": spec.algorithm,
        "distribution": distribution,
        "image": image,
        "workers": on.workers,
        "least_workers": _least_workers(job, on, distribution),
        "processes_per_host": on.processes_per_host,
        "hyperparameters": to_texts(job.hyperparameters),
        "environment": dict(spec.environment),
        "data": data_place(job, storage, cluster),
        "log": log_place(job, cluster, f"log-{job_id(job, launch)}"),
        "model_copied_to": f"s3://{storage.bucket_name}/{storage.key(spec.channels.log)}/{name}"
        "/model.pt",
        "max_run_s": spec.limits.max_run_s,
        "stall_s": options.stall_s,
        "retries": spec.retries,
        "workers_wait_s": options.workers_wait_s,
        "keep_workers": options.keep_workers,
        "resume": launch.resume,
        "queue": options.queue,
        "tags": {tag["Key"]: tag["Value"] for tag in every_tag},
        "network_interface": options.network_interface,
    }
    check_limits(document)
    return {**document, "fingerprint": _fingerprint(document, launch)}


def _least_workers(job: Job, on: Machines, distribution: Distribution) -> int:
    wanted = job.spec.ec2.least_workers
    if distribution != "elastic":
        if wanted is not None:
            raise UsageError(
                f"ec2.least_workers: {wanted}: only distribution elastic goes on with fewer "
                f"workers, and this one is {distribution}; leave it out"
            )
        return on.workers
    if wanted is not None and wanted > on.workers:
        raise UsageError(
            f"ec2.least_workers: {wanted}: the job takes {on.workers} workers (instances.count); "
            "give as many or fewer"
        )
    return wanted or 1


def _fingerprint(document: Mapping[str, Any], launch: Launch) -> str:
    """Return what tells this request from another of the same name.

    A request whose answer was lost is sent again, and must not start a second job. To go on with a
    job is another request each time, although it may say the same.
    """
    told = dict(document)
    if launch.resume:
        told["launched"] = launch.now.isoformat()
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
