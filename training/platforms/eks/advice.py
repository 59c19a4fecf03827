"""What stands against a plan for the EKS cluster, as far as the stacks' outputs tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from training.job import JobSpec
from training.outputs import KubernetesOutputs
from training.platforms.common.secrets import secret_names
from training.platforms.eks.machines import Machines, most_nodes
from training.platforms.eks.request import EksRequest
from training.preflight.finding import Finding

_OF_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/"
)
"""https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html"""


def find(spec: JobSpec, request: EksRequest) -> Iterator[Finding]:
    """Yield what is wrong, or should be known, before a release is made."""
    cluster, on = request.cluster, request.on
    yield from _too_many(on, cluster)
    yield from _other_type(spec, cluster)
    yield from _idle(on)
    yield from _spot(spec, cluster, request.distribution)
    yield from _secrets(spec)
    yield from _image(request)
    yield from _private(cluster)


def _too_many(on: Machines, cluster: KubernetesOutputs) -> Iterator[Finding]:
    most = most_nodes(cluster)
    if on.workers > most:
        yield Finding(
            "workers-over-most",
            "error",
            f"instances.count: {on.workers}: the cluster has at most {most} GPU nodes. Take {most} "
            f"or fewer, or raise it: cdk deploy {cluster.STACK} -c eks_max_nodes={on.workers}",
            "instances.count",
        )


def _other_type(spec: JobSpec, cluster: KubernetesOutputs) -> Iterator[Finding]:
    wanted, there = spec.instances.type, cluster.gpu_instance_type
    if wanted is not None and wanted.removeprefix("ml.") != there:
        yield Finding(
            "instance-type-not-the-clusters",
            "error",
            f"instances.type: {wanted}: the cluster's GPU nodes are {there}, and a job takes what "
            f"is there. Leave it out, or change the nodes: cdk deploy {cluster.STACK} -c "
            f"eks_gpu_instance_type={wanted.removeprefix('ml.')}",
            "instances.type",
        )


def _idle(on: Machines) -> Iterator[Finding]:
    if on.processes_per_node < on.instance.gpus:
        yield Finding(
            "gpus-idle",
            "warning",
            f"instances.processes_per_instance: {on.processes_per_node}: each GPU node, {on.type}, "
            f"has {on.instance.gpus} GPUs, and {on.instance.gpus - on.processes_per_node} of them "
            "would do nothing and be paid for",
            "instances.processes_per_instance",
        )


def _spot(spec: JobSpec, cluster: KubernetesOutputs, distribution: str) -> Iterator[Finding]:
    is_spot = cluster.spot == "true"
    if spec.spot.enabled and not is_spot:
        yield Finding(
            "spot-without-spot-workers",
            "warning",
            "spot.enabled: the cluster's GPU nodes are on demand, whatever the job says, and are "
            f"paid for so. For spot nodes: cdk deploy {cluster.STACK} -c eks_spot=true",
            "spot.enabled",
        )
    if spec.spot.max_wait_s is not None:
        yield Finding(
            "spot-wait-not-used",
            "warning",
            "spot.max_wait_s: a cluster does not know it; eks.workers_wait_s says how long the job "
            "waits for its nodes",
            "spot.max_wait_s",
        )
    if is_spot and distribution != "elastic" and spec.retries == 0:
        yield Finding(
            "spot-without-retries",
            "warning",
            "retries: 0: the cluster's GPU nodes are spot instances; a node that AWS takes back "
            "is waited for, but where its place stays empty the job fails and can be resumed by "
            "hand. Set retries (up to 30), or take distribution elastic where the algorithm has it",
            "retries",
        )


def _secrets(spec: JobSpec) -> Iterator[Finding]:
    names = secret_names(spec.environment)
    if names:
        yield Finding(
            "secret-in-environment",
            "warning",
            f"environment.{names[0]}: it looks like a secret, and whoever may look into the "
            "namespace can read it in the MPIJob, its pods and helm's record of the release. Let "
            "the job fetch it from Secrets Manager instead: pods have the role of the service "
            "account",
            f"environment.{names[0]}",
        )


def _image(request: EksRequest) -> Iterator[Finding]:
    found = _OF_ECR.match(request.image)
    if found is None or (found["account"], found["region"]) == (request.account, request.region):
        return
    yield Finding(
        "image-of-another-registry",
        "warning",
        f"image: {request.image} is in ECR of account {found['account']} in {found['region']}, and "
        f"the cluster is in account {request.account} in {request.region}. Nodes can pull it only "
        "where its repository's policy lets them, and another region only with a way to the "
        "internet; or push it to the cluster's own: leave image out for the one of this project",
        "image",
    )


def _private(cluster: KubernetesOutputs) -> Iterator[Finding]:
    if cluster.api_access == "private":
        yield Finding(
            "api-private",
            "info",
            f"the API of cluster {cluster.cluster_name} answers inside the VPC only: launch from "
            "ClusterStack's head node or NotebookStack's notebook, or by VPN, or deploy "
            f"{cluster.STACK} with this machine's network in eks_api_cidrs",
            "eks_api_cidrs",
        )
