"""The values that a job's chart is rendered with; charts/*/values.schema.json describes them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from training.algorithms import Distribution
from training.errors import UsageError
from training.hyperparameter_text import to_texts
from training.job import Job
from training.outputs import KubernetesOutputs, NetworkOutputs
from training.platforms.api import Launch, job_name
from training.platforms.common.tags import tags
from training.platforms.common.variables import MAX_VARIABLES, check_variables
from training.platforms.eks.machines import Machines
from training.platforms.eks.places import Places
from training.platforms.eks.where import where_is

MAX_RUN_S = 366 * 24 * 3600

SMALL_GPU_MIB = 16 * 1024
SMALL_GPU_SPARE_MIB = 2560
"""What TensorFlow leaves of a GPU of 16 GB to cuDNN and NCCL, as the original tutorial has it; the
charts' own default is for larger ones."""

_NOT_IN_YAML = re.compile("[\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What a manifest cannot carry, as helm writes it: https://yaml.org/spec/1.2.2/#51-character-set"""


def values_of(
    job: Job,
    *,
    network: NetworkOutputs,
    cluster: KubernetesOutputs,
    on: Machines,
    distribution: Distribution,
    image: str,
    copier: str,
    places: Places,
    launch: Launch,
) -> dict[str, Any]:
    """Return the values as plain JSON values.

    Hyperparameters are texts, as SageMaker passes them: docker/entrypoint reads nothing else.

    Args:
        image: That the job runs in.
        copier: That data from S3 is copied in: one with our own programs.
        places: The job's folders.

    Raises:
        UsageError: The pods could not run such a job.
    """
    spec = job.spec
    name = job_name(job, launch)
    room = MAX_VARIABLES - len(_region_variables(cluster))
    check_variables(spec.environment, room=room, taker="platform eks")
    every_tag = tags(spec.tags, project=network.project, job=name, taker="platform eks")
    if spec.limits.max_run_s > MAX_RUN_S:
        raise UsageError(
            f"limits.max_run_s: {spec.limits.max_run_s}: platform eks runs a job for at most "
            f"{MAX_RUN_S} seconds (a year)"
        )
    hyperparameters = to_texts(job.hyperparameters)
    _check_characters("environment", spec.environment)
    _check_characters("hyperparameters", hyperparameters)
    values: dict[str, Any] = {
        "global": {"namespace": cluster.namespace, "shared_fs": "efs"},
        "maskrcnn": {
            "image": image,
            "gpu_instance_type": on.type,
            "nodes": on.workers,
            "data_fs": places.data_fs,
            **_spare(job, on),
        },
        "job": {
            "name": name,
            "hyperparameters": hyperparameters,
            "hyperparameters_complete": True,
            "environment": {**_region_variables(cluster), **spec.environment},
            "log": places.log,
            **_data(places, copier),
            "distribution": distribution,
            "processes_per_node": on.processes_per_node,
            **_least_nodes(job, on, distribution),
            "max_run_s": spec.limits.max_run_s,
            "workers_wait_s": spec.eks.workers_wait_s,
            "retries": spec.retries,
            "tags": {tag["Key"]: tag["Value"] for tag in every_tag},
        },
        "serviceAccount": cluster.service_account,
        "gang": {"scheduler": spec.eks.gang_scheduler},
    }
    if cluster.efa == "false":
        values["resources"] = {"efa": 0}
    values["job"]["fingerprint"] = _fingerprint(values, launch)
    return values


def _spare(job: Job, on: Machines) -> dict[str, int]:
    """Return what goes by the GPU's memory; the charts with TensorFlow alone have such a key."""
    if job.spec.algorithm == "horovod" or on.instance.gpu.memory_mib > SMALL_GPU_MIB:
        return {}
    return {"tf_device_min_sys_mem_mb": SMALL_GPU_SPARE_MIB}


def _region_variables(cluster: KubernetesOutputs) -> dict[str, str]:
    """Return what tells AWS's SDKs the region: pods reach no instance metadata, and EKS Pod
    Identity promises credentials alone
    (https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html).
    """
    region = where_is(cluster).region
    return {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}


def _check_characters(key: str, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        if found := _NOT_IN_YAML.search(text):
            raise UsageError(
                f"{key}.{name}: {text[:40]!r}: a Kubernetes manifest cannot carry the character "
                f"{found[0]!r}"
            )


def _data(places: Places, copier: str) -> dict[str, Any]:
    if places.is_copied:
        return {"s3": {"source": places.data, "image": copier}}
    return {"data": places.data}


def _least_nodes(job: Job, on: Machines, distribution: Distribution) -> dict[str, int]:
    wanted = job.spec.eks.least_nodes
    if wanted is None:
        return {}
    if distribution != "elastic":
        raise UsageError(
            f"eks.least_nodes: {wanted}: only distribution elastic goes on with fewer nodes, and "
            f"this one is {distribution}; leave it out"
        )
    if wanted > on.workers:
        raise UsageError(
            f"eks.least_nodes: {wanted}: the job takes {on.workers} nodes (instances.count); give "
            "as many or fewer"
        )
    return {"least_nodes": wanted}


def _fingerprint(values: Mapping[str, Any], launch: Launch) -> str:
    """Return what tells this request from another of the same name.

    A request whose answer was lost is sent again, and must not start a second job. To go on with a
    job is another request each time, although it may say the same.
    """
    told = {"values": values, "launched": launch.now.isoformat() if launch.resume else None}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
