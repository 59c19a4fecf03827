"""Whether this machine and identity can talk to the cluster, and with what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.kubernetes.errors import KubernetesUnreachable
from training.kubernetes.tools import PACKAGE
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.eks.inside import ACTIONS, Inside

SKEW = 1
"""Minor versions between kubectl and the API server:
https://kubernetes.io/releases/version-skew-policy/#kubectl"""


@dataclass(frozen=True)
class ClusterAnswers(Check):
    """The cluster's API is reached from here, knows the caller, and suits helm and kubectl."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "api-not-reached": "error",
        "api-not-permitted": "error",
        "kubectl-other-version": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ACTIONS

    inside: Inside

    def find(self) -> Iterator[Finding]:
        error, cluster = self.inside.why_not(), self.inside.cluster
        if isinstance(error, KubernetesUnreachable):
            where = (
                "it answers inside the VPC only: launch from ClusterStack's head node or "
                "NotebookStack's notebook, or by VPN"
                if cluster.api_access == "private"
                else "it answers inside the VPC and to the networks of eks_api_cidrs: is this "
                "machine in one of them?"
            )
            yield self.found(
                "api-not-reached",
                cluster.cluster_name,
                f"the API of cluster {cluster.cluster_name} does not answer: {where} ({error})",
            )
        elif error is not None and error.reason in {"Unauthorized", "Forbidden"}:
            yield self.found("api-not-permitted", cluster.cluster_name, str(error))
        elif error is not None:
            raise error
        yield from self._judge_version()

    def _judge_version(self) -> Iterator[Finding]:
        version = self.inside.version
        ours = int(PACKAGE.rpartition("v")[2])
        if version is not None and abs(int(version.partition(".")[2]) - ours) > SKEW:
            yield self.found(
                "kubectl-other-version",
                self.inside.cluster.cluster_name,
                f"the cluster runs Kubernetes {version}, and kubectl here is 1.{ours}: they may be "
                f"{SKEW} minor version apart. Take another version of the package {PACKAGE}",
            )
