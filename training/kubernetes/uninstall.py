"""`python -m training.kubernetes uninstall`: take the cluster's parts out again."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from training.cli import log, result
from training.errors import Interrupted, PreflightError, UsageError
from training.job_options import OutputsFileOption
from training.kubernetes import operator
from training.kubernetes.access import KubeconfigOption
from training.kubernetes.client import Kubernetes, Object
from training.kubernetes.errors import KubernetesRefused
from training.kubernetes.helm import Helm
from training.kubernetes.interrupted import told_when_stopped
from training.kubernetes.options import reached
from training.kubernetes.plan import NAMESPACE, RELEASE

_OPERATOR = (
    ("deployments.apps", operator.DEPLOYMENT, operator.NAMESPACE),
    ("clusterrolebindings.rbac.authorization.k8s.io", "mpi-operator", None),
    ("clusterroles.rbac.authorization.k8s.io", "mpi-operator", None),
    ("clusterroles.rbac.authorization.k8s.io", "kubeflow-mpijobs-admin", None),
    ("clusterroles.rbac.authorization.k8s.io", "kubeflow-mpijobs-edit", None),
    ("clusterroles.rbac.authorization.k8s.io", "kubeflow-mpijobs-view", None),
    ("customresourcedefinitions.apiextensions.k8s.io", operator.JOB_KIND, None),
    ("namespaces", operator.NAMESPACE, None),
)
"""What its manifest makes, the operator first: kind, name and namespace."""


def uninstall(
    outputs_file: OutputsFileOption = None,
    kubeconfig: KubeconfigOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove the MPI Operator, device plugins and autoscaler.

    The namespace of the jobs stays, with the volumes, their claims and all logs. Refused while
    there are MPIJobs.
    """
    with reached(outputs_file, kubeconfig) as (_, cluster, own):
        client = Kubernetes(own, cluster.namespace)
        if jobs := mpi_jobs(client):
            raise PreflightError(
                f"there are MPIJobs, which would be lost: {', '.join(jobs)}. Stop them first: "
                "python -m training.jobs stop NAME --platform eks"
            )
        if not yes:
            _ask(cluster.cluster_name)
        with told_when_stopped("part of it is gone. Run the same command again"):
            is_removed = remove(client, Helm(own, NAMESPACE))
    if not is_removed:
        result.print(f"nothing to uninstall: cluster {cluster.cluster_name} has none of it")
        return
    log.print(
        f"kept: namespace {cluster.namespace}, persistent volumes and claims mask-rcnn-efs and "
        "mask-rcnn-fsx, and everything on the file systems, logs too. GPU nodes that run now stay "
        f"until you set node group {cluster.gpu_node_group} to 0"
    )
    result.print(f"uninstalled from cluster {cluster.cluster_name}")


def _ask(cluster: str) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nobody is there to agree to the removal; add --yes")
    try:
        answer = typer.confirm(f"Remove the parts of cluster {cluster}?", err=True)
    except typer.Abort:
        answer = False
    if not answer:
        raise Interrupted("nothing was removed")


def remove(client: Kubernetes, helm: Helm) -> bool:
    """Remove the release and the operator; parts that are gone are no error.

    Returns:
        Whether there was any of it.
    """
    there = [
        (kind, name, namespace)
        for kind, name, namespace in _OPERATOR
        if client.get(kind, name, namespace=namespace) is not None
    ]
    has_release = helm.release(RELEASE) is not None
    helm.uninstall(RELEASE)
    for kind, name, namespace in there:
        client.delete(kind, name, namespace=namespace)
    return has_release or bool(there)


def mpi_jobs(client: Kubernetes) -> list[str]:
    """Return namespace and name of every MPIJob that is there, ended or not."""
    try:
        found: list[Object] = client.list(operator.JOB_KIND, everywhere=True)
    except KubernetesRefused as error:
        if error.reason == "NoSuchKind":
            return []
        raise
    return [f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in found]
