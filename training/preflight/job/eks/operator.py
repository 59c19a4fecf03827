"""What must run in the cluster before a job can: the MPI Operator, and the devices' plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from training.platforms.eks.commands import CLUSTER_STATUS, INSTALL
from training.platforms.eks.connection import Connection
from training.platforms.eks.looking import MPIJOBS
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.eks.inside import ACTIONS, Inside

VERSION = "v2beta1"
OPERATOR = "mpi-operator"
"""The name of its deployment: https://github.com/kubeflow/mpi-operator, manifests/base"""


@dataclass(frozen=True)
class OperatorRuns(Check):
    """The MPI Operator is installed, serves our kind of job, and runs."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "operator-missing": "error",
        "operator-other-version": "error",
        "operator-not-running": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ACTIONS

    inside: Inside

    def find(self) -> Iterator[Finding]:
        asked = self.inside.ask(_operator)
        if asked is None:
            return
        definition, deployments = asked
        if definition is None:
            yield self.found(
                "operator-missing",
                MPIJOBS,
                f"the cluster knows no MPIJobs: the MPI Operator is not installed. {INSTALL}",
            )
            return
        served = [each["name"] for each in definition["spec"]["versions"] if each.get("served")]
        if VERSION not in served:
            yield self.found(
                "operator-other-version",
                MPIJOBS,
                f"the cluster's MPI Operator takes MPIJobs of {', '.join(served) or 'no version'}, "
                f"and ours are {VERSION}. Install the pinned one: {INSTALL}",
            )
        if not any(each.get("status", {}).get("availableReplicas") for each in deployments):
            yield self.found(
                "operator-not-running",
                OPERATOR,
                "the MPI Operator has no pod that is available: nobody would make a job's pods. "
                f"See why: {CLUSTER_STATUS}",
            )


@dataclass(frozen=True)
class DevicePluginsRun(Check):
    """The plugins that tell Kubernetes of GPUs, and of EFA where nodes have it, are installed."""

    codes: ClassVar[Mapping[str, Severity]] = {"device-plugin-missing": "error"}
    actions: ClassVar[tuple[str, ...]] = ACTIONS

    inside: Inside
    plugins: Mapping[str, Sequence[str]]
    """By the resource that it offers: words in the name of its DaemonSet."""

    def find(self) -> Iterator[Finding]:
        found = self.inside.ask(
            lambda connection: connection.kubernetes.list("daemonsets.apps", everywhere=True)
        )
        if found is None:
            return
        names = [str(each["metadata"]["name"]) for each in found]
        for resource, words in self.plugins.items():
            if not any(all(word in name for word in words) for name in names):
                yield self.found(
                    "device-plugin-missing",
                    resource,
                    f"no DaemonSet of the cluster is called {'...'.join(words)}, as the plugin is "
                    f"that offers {resource}: the job's pods would wait for ever. Install it: "
                    f"{INSTALL}",
                )


def _operator(
    connection: Connection,
) -> tuple[Mapping[str, Any] | None, Sequence[Mapping[str, Any]]]:
    kubernetes = connection.kubernetes
    definition = kubernetes.get("customresourcedefinitions.apiextensions.k8s.io", MPIJOBS)
    deployments = kubernetes.list("deployments.apps", everywhere=True)
    return definition, [each for each in deployments if each["metadata"]["name"] == OPERATOR]
