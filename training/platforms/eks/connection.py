"""The cluster's API, for as long as a command needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from training.errors import TrainingError
from training.kubernetes.access import cluster_access
from training.kubernetes.client import Kubernetes
from training.kubernetes.errors import KubernetesRefused, KubernetesUnreachable
from training.kubernetes.helm import Helm
from training.outputs import KubernetesOutputs

_PASSING = frozenset(
    {"InternalError", "ServerTimeout", "ServiceUnavailable", "Timeout", "TooManyRequests"}
)
"""Reasons of an API server that is busy, or is being replaced:
https://github.com/kubernetes/apimachinery/blob/v0.35.0/pkg/apis/meta/v1/types.go, StatusReason"""


def may_pass(error: TrainingError) -> bool:
    """Return whether the same request may succeed a little later."""
    if isinstance(error, KubernetesRefused):
        return error.reason in _PASSING
    return isinstance(error, KubernetesUnreachable)


@dataclass(frozen=True)
class Connection:
    """What asks for objects, and what makes and removes releases; both in the jobs' namespace."""

    kubernetes: Kubernetes
    helm: Helm

    def helm_in(self, namespace: str) -> Helm:
        """Return what makes and removes releases of another namespace.

        `helm install` without -n makes its release in the user's own, mostly `default`, and the
        objects of it in the jobs'.
        """
        return replace(self.helm, namespace=namespace)


@contextmanager
def connected(cluster: KubernetesOutputs) -> Iterator[Connection]:
    """Yield what asks the cluster; KUBECONFIG goes before the stack's outputs.

    Raises:
        UsageError: There is no such cluster, or helm and kubectl are not installed here.
        AwsError: AWS refused to tell of the cluster, or did not answer.
    """
    with cluster_access(cluster) as kubeconfig:
        yield Connection(
            Kubernetes(kubeconfig, cluster.namespace), Helm(kubeconfig, cluster.namespace)
        )
